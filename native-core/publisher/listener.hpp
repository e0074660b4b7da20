/// A bound socket that peers connect to: tcp://HOST:PORT or ipc://PATH. One thread.
#pragma once

#include "publisher/descriptor.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace kvpub {

/// An endpoint that is malformed (EINVAL), or that the system does not give.
struct address_error : std::system_error {
    using std::system_error::system_error;
};

class listener {
public:
    /// Binds. HOST: a name, an address, [an IPv6 address], or * for all; PORT 0 or *: any. A socket file that
    /// nobody listens at is replaced. Throws address_error.
    explicit listener(std::string_view endpoint);
    ~listener();
    listener(const listener&) = delete;
    listener& operator=(const listener&) = delete;

    int fd() const {
        return m_fd.get();
    }

    /// 0 for a unix socket.
    std::uint16_t port() const {
        return m_port;
    }

    /// A connection that waits, not blocking; closed when there is none.
    descriptor accept() const;

private:
    void bind_tcp(std::string_view address);
    void bind_unix(std::string_view path);

    descriptor m_fd;
    std::uint16_t m_port = 0;
    std::string m_path; ///< to remove at the end
};

} // namespace kvpub
