/// A file descriptor that closes itself. One owner.
#pragma once

#include <unistd.h>

#include <utility>

namespace kvpub {

class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int fd) : m_fd(fd) {
    }
    descriptor(descriptor&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {
    }
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() {
        if (m_fd >= 0) {
            close(m_fd);
        }
    }

    int get() const {
        return m_fd;
    }
    bool open() const {
        return m_fd >= 0;
    }

private:
    int m_fd = -1;
};

} // namespace kvpub
