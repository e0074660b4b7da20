/* libreporterchelper: two figures for the builder's report on its progress, called through JNI in the builder's
 * own JVM. */
#include <jni.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Most bytes that this process had resident; -1 when the system does not tell. */
JNIEXPORT jlong JNICALL Java_com_oracle_svm_hosted_ProgressReporterCHelper_getPeakRSS0(JNIEnv* env,
                                                                                       jclass type) {
    (void)env;
    (void)type;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (jlong)usage.ru_maxrss * 1024 : -1;
}

/* Width of the terminal at standard output in characters; -1 when there is none. */
JNIEXPORT jint JNICALL
Java_com_oracle_svm_hosted_ProgressReporterCHelper_getTerminalWindowColumns0(JNIEnv* env, jclass type) {
    (void)env;
    (void)type;
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : -1;
}
