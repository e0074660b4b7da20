/*
 * libjvm: what the JDK's own C libraries ask of the virtual machine, as far as it has a meaning in an
 * executable without one. The other functions that they name end the process and say which one it was
 * (generated: absent.c).
 *
 * Signatures are those of the JDK's jvm.h and jvm_io.h.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NANOS 1000000000L

/* Called once at the start of an executable; nothing here needs it. */
void initialize(void) {
}

static jlong nanos(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (jlong)now.tv_sec * NANOS + now.tv_nsec;
}

jlong JVM_CurrentTimeMillis(JNIEnv* env, jclass type) {
    (void)env;
    (void)type;
    return nanos(CLOCK_REALTIME) / 1000000;
}

jlong JVM_NanoTime(JNIEnv* env, jclass type) {
    (void)env;
    (void)type;
    return nanos(CLOCK_MONOTONIC);
}

/* Nanoseconds since `offset` seconds after 1970; -1 when they do not fit: 2^32 seconds to either side do. */
jlong JVM_GetNanoTimeAdjustment(JNIEnv* env, jclass type, jlong offset) {
    (void)env;
    (void)type;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    jlong seconds = (jlong)now.tv_sec - offset;
    if (seconds > (1LL << 32) || seconds < -(1LL << 32))
        return -1;
    return seconds * NANOS + now.tv_nsec;
}

jlong Java_java_lang_System_currentTimeMillis(JNIEnv* env, jclass type) {
    return JVM_CurrentTimeMillis(env, type);
}

jlong Java_java_lang_System_nanoTime(JNIEnv* env, jclass type) {
    return JVM_NanoTime(env, type);
}

jlong Java_jdk_internal_misc_VM_getNanoTimeAdjustment(JNIEnv* env, jclass type, jlong offset) {
    return JVM_GetNanoTimeAdjustment(env, type, offset);
}

jint JVM_ActiveProcessorCount(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (jint)sysconf(_SC_NPROCESSORS_ONLN);
}

void JVM_BeforeHalt(void) {
}

void JVM_Halt(jint status) {
    _exit(status);
}

jboolean JVM_IsStaticallyLinked(void) {
    return JNI_TRUE;
}

jboolean JVM_IsUseContainerSupport(void) {
    return JNI_FALSE;
}

jboolean JVM_IsSupportedJNIVersion(jint version) {
    return version == JNI_VERSION_1_1 || version == JNI_VERSION_1_2 || version == JNI_VERSION_1_4 ||
           version == JNI_VERSION_1_6 || version == JNI_VERSION_1_8 || version == JNI_VERSION_9 ||
           version == JNI_VERSION_10 || version == JNI_VERSION_19 || version == JNI_VERSION_20 ||
           version == JNI_VERSION_21 || version == JNI_VERSION_24;
}

/* NULL handle: the executable itself. */
void* JVM_FindLibraryEntry(void* library, const char* name) {
    return dlsym(library, name);
}

char* JVM_NativePath(char* path) {
    return path;
}

jstring JVM_GetTemporaryDirectory(JNIEnv* env) {
    return (*env)->NewStringUTF(env, "/tmp");
}

/* A monitor that its owner may enter again; NULL when memory is short. */
void* JVM_RawMonitorCreate(void) {
    pthread_mutexattr_t kind;
    pthread_mutex_t* monitor = malloc(sizeof *monitor);
    if (monitor == NULL)
        return NULL;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    int failed = pthread_mutex_init(monitor, &kind);
    pthread_mutexattr_destroy(&kind);
    if (failed) {
        free(monitor);
        return NULL;
    }
    return monitor;
}

void JVM_RawMonitorDestroy(void* monitor) {
    pthread_mutex_destroy(monitor);
    free(monitor);
}

jint JVM_RawMonitorEnter(void* monitor) {
    return pthread_mutex_lock(monitor);
}

void JVM_RawMonitorExit(void* monitor) {
    pthread_mutex_unlock(monitor);
}

int jio_vsnprintf(char* text, size_t size, const char* format, va_list arguments) {
    if ((ssize_t)size <= 0)
        return -1;
    int length = vsnprintf(text, size, format, arguments);
    /* Cut off is -1, and the text ends with a zero all the same. */
    return length < 0 || (size_t)length >= size ? -1 : length;
}

int jio_snprintf(char* text, size_t size, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = jio_vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return length;
}

int jio_vfprintf(FILE* file, const char* format, va_list arguments) {
    return vfprintf(file, format, arguments);
}

int jio_fprintf(FILE* file, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vfprintf(file, format, arguments);
    va_end(arguments);
    return length;
}
