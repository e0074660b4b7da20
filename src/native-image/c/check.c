/* Run once after the libraries are compiled: they do what their callers count on. Ends with 1 and the line that
 * does not hold. */
#include <jni.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "amd64cpufeatures.h"
#include "svm_locale.h"

#define HOLDS(what)                                                                                            \
    do {                                                                                                       \
        if (!(what)) {                                                                                         \
            fprintf(stderr, "check.c:%d: %s\n", __LINE__, #what);                                              \
            return 1;                                                                                          \
        }                                                                                                      \
    } while (0)

int cSunMiscSignal_open(void);
int cSunMiscSignal_close(void);
int cSunMiscSignal_awaitSemaphore(void);
int cSunMiscSignal_checkPendingSignal(void);
void (*cSunMiscSignal_signalHandlerFunctionPointer(void))(int);
void determineCPUFeatures(CPUFeatures*);
int checkCPUFeatures(const uint8_t*);
int svm_container_initialize(int);
int svm_container_active_processor_count(void);
uint64_t svm_container_physical_memory(void);
int64_t getThreadUserTimeSlow(int);
int getThreadId(void);
char* SVM_FindJavaTZmd(const char*, int);
void* JVM_RawMonitorCreate(void);
jint JVM_RawMonitorEnter(void*);
void JVM_RawMonitorExit(void*);
void JVM_RawMonitorDestroy(void*);
jlong JVM_GetNanoTimeAdjustment(JNIEnv*, jclass, jlong);
int jio_snprintf(char*, size_t, const char*, ...);

static int signals(void) {
    HOLDS(cSunMiscSignal_open() == 0);
    HOLDS(cSunMiscSignal_open() == 1);
    HOLDS(cSunMiscSignal_checkPendingSignal() == -1);
    HOLDS(signal(SIGUSR1, cSunMiscSignal_signalHandlerFunctionPointer()) != SIG_ERR);
    HOLDS(raise(SIGUSR1) == 0 && raise(SIGUSR1) == 0);
    for (int i = 0; i < 2; i++) {
        HOLDS(cSunMiscSignal_awaitSemaphore() == 0);
        HOLDS(cSunMiscSignal_checkPendingSignal() == SIGUSR1);
    }
    HOLDS(cSunMiscSignal_checkPendingSignal() == -1);
    HOLDS(cSunMiscSignal_close() == 0);
    HOLDS(cSunMiscSignal_close() == -1);
    return 0;
}

static int processor(void) {
    CPUFeatures features;
    uint8_t required[sizeof features];
    determineCPUFeatures(&features);
    HOLDS(features.fSSE2 == 1 && features.fCX8 == 1); /* every x86-64 has them */
    HOLDS(features.fAPX_F == 0);
    memset(required, 0xff, sizeof required);
    HOLDS(checkCPUFeatures(required) == 0);
    required[(uint8_t*)&features.fSSE2 - (uint8_t*)&features] = 0xfe;
    HOLDS(checkCPUFeatures(required) == 0);
    required[(uint8_t*)&features.fAPX_F - (uint8_t*)&features] = 0xfe;
    HOLDS(checkCPUFeatures(required) != 0);
    return 0;
}

static int others(void) {
    HOLDS(svm_container_initialize(0) >= 0);
    HOLDS(svm_container_active_processor_count() >= 1);
    HOLDS(svm_container_physical_memory() > 0);
    HOLDS(getThreadUserTimeSlow(getThreadId()) >= 0);
    HOLDS(getThreadUserTimeSlow(-1) == -1);
    setenv("TZ", "Asia/Tokyo", 1);
    HOLDS(strcmp(SVM_FindJavaTZmd(NULL, 0), "Asia/Tokyo") == 0);
    setenv("TZ", ":/usr/share/zoneinfo/Europe/Paris", 1);
    HOLDS(strcmp(SVM_FindJavaTZmd(NULL, 0), "Europe/Paris") == 0);
    setenv("LC_ALL", "C", 1);
    HOLDS(svm_initialize_locale() == SVM_LOCALE_INITIALIZATION_SUCCEEDED);
    HOLDS(strcmp(svm_get_locale()->format_language, "en") == 0 && svm_get_locale()->format_country == NULL);
    void* monitor = JVM_RawMonitorCreate();
    HOLDS(monitor != NULL && JVM_RawMonitorEnter(monitor) == 0 && JVM_RawMonitorEnter(monitor) == 0);
    JVM_RawMonitorExit(monitor);
    JVM_RawMonitorExit(monitor);
    JVM_RawMonitorDestroy(monitor);
    HOLDS(JVM_GetNanoTimeAdjustment(NULL, NULL, 0) > 0);
    HOLDS(JVM_GetNanoTimeAdjustment(NULL, NULL, INT64_MIN / 2) == -1);
    char text[4];
    HOLDS(jio_snprintf(text, sizeof text, "%s", "abc") == 3 && strcmp(text, "abc") == 0);
    HOLDS(jio_snprintf(text, sizeof text, "%s", "abcd") == -1 && strcmp(text, "abc") == 0);
    return 0;
}

int main(void) {
    return signals() || processor() || others();
}
