/*
 * libchelper: the socket through which tools of the JDK attach to a running executable that was built with
 * that. Only the owner of the process may: the socket's file is readable by nobody else, and whoever connects
 * is asked for its identity (unix(7), SO_PEERCRED).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Removes the socket's file of an earlier process with this number. */
void svm_attach_startup(const char* path) {
    struct stat found;
    if (lstat(path, &found) == 0 && S_ISSOCK(found.st_mode))
        unlink(path);
}

/* Whether the socket's file is still there. */
bool svm_attach_check_socket_file(const char* path) {
    struct stat found;
    return lstat(path, &found) == 0 && S_ISSOCK(found.st_mode);
}

/* Whether `path` is a file by which the owner of this process, or root, asks for the socket. */
bool svm_attach_is_init_trigger(const char* path) {
    struct stat found;
    return stat(path, &found) == 0 && (found.st_uid == geteuid() || found.st_uid == 0);
}

/* A socket that listens at `path`; -1 when it cannot be made. */
int svm_attach_create_listener(const char* path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0)
        return -1;
    unlink(path);
    mode_t before = umask(0177);
    bool listening =
        bind(listener, (struct sockaddr*)&address, sizeof address) == 0 && listen(listener, 5) == 0;
    umask(before);
    if (!listening) {
        close(listener);
        unlink(path);
        return -1;
    }
    return listener;
}

/* The next connection of the owner of this process, or of root; -1 when the listener was shut down. */
int svm_attach_wait_for_request(int listener) {
    while (true) {
        int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return -1;
        }
        struct ucred peer;
        socklen_t length = sizeof peer;
        if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
            (peer.uid == geteuid() || peer.uid == 0)) {
            return connection;
        }
        close(connection);
    }
}

void svm_attach_shutdown_socket(int connection) {
    shutdown(connection, SHUT_RDWR);
    close(connection);
}

/* Wakes whoever waits at the listener, and takes its file away. */
void svm_attach_listener_cleanup(int listener, const char* path) {
    if (listener >= 0) {
        shutdown(listener, SHUT_RDWR);
        close(listener);
    }
    unlink(path);
}
