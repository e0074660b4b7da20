/*
 * libchelper: signals for Java code. A handler counts each signal and wakes the dispatcher, a Java thread that
 * takes them one by one. Only the handler runs in signal context: it uses nothing but atomic counters and
 * sem_post(3).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

static atomic_int pending[NSIG];
static sem_t arrived;
static atomic_bool opened;

/* 0; -1 with errno set when it did not work; 1 when another isolate of the process has it. */
int cSunMiscSignal_open(void) {
    if (atomic_exchange(&opened, true))
        return 1;
    for (int i = 0; i < NSIG; i++)
        atomic_store(&pending[i], 0);
    if (sem_init(&arrived, 0, 0) == 0)
        return 0;
    atomic_store(&opened, false);
    return -1;
}

int cSunMiscSignal_close(void) {
    if (!atomic_exchange(&opened, false)) {
        errno = EINVAL;
        return -1;
    }
    return sem_destroy(&arrived);
}

/* Blocks until a signal has arrived, or somebody posts. */
int cSunMiscSignal_awaitSemaphore(void) {
    while (sem_wait(&arrived) != 0) {
        if (errno != EINTR)
            return -1;
    }
    return 0;
}

int cSunMiscSignal_signalSemaphore(void) {
    return sem_post(&arrived);
}

bool cSunMiscSignal_signalRangeCheck(int signal) {
    return signal >= 0 && signal < NSIG;
}

/* Takes one signal that has arrived, and returns its number; -1 when there is none. */
int cSunMiscSignal_checkPendingSignal(void) {
    for (int i = 0; i < NSIG; i++) {
        int count = atomic_load(&pending[i]);
        while (count > 0) {
            if (atomic_compare_exchange_weak(&pending[i], &count, count - 1))
                return i;
        }
    }
    return -1;
}

static void on_signal(int signal) {
    int before = errno;
    if (signal >= 0 && signal < NSIG) {
        atomic_fetch_add(&pending[signal], 1);
        sem_post(&arrived);
    }
    errno = before;
}

void (*cSunMiscSignal_signalHandlerFunctionPointer(void))(int) {
    return on_signal;
}
