#include "publisher/listener.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace kvpub {
namespace {

constexpr int backlog = 128;
constexpr std::string_view tcp = "tcp://";
constexpr std::string_view ipc = "ipc://";

[[noreturn]] void fail(int error, std::string_view what) {
    throw address_error(error, std::generic_category(), std::string(what));
}

descriptor socket_of(int family) {
    descriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.open()) {
        fail(errno, "socket");
    }
    return fd;
}

std::uint16_t port_of(std::string_view text) {
    if (text == "*") {
        return 0;
    }
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size()) {
        fail(EINVAL, "port");
    }
    return port;
}

/// Whether a process listens at this socket file.
bool answers(const sockaddr_un& address) {
    const descriptor probe = socket_of(AF_UNIX);
    return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

} // namespace

listener::listener(std::string_view endpoint) {
    if (endpoint.starts_with(tcp)) {
        bind_tcp(endpoint.substr(tcp.size()));
    } else if (endpoint.starts_with(ipc)) {
        bind_unix(endpoint.substr(ipc.size()));
    } else {
        fail(EINVAL, "endpoint");
    }
    if (listen(m_fd.get(), backlog) != 0) {
        fail(errno, "listen");
    }
}

listener::~listener() {
    if (!m_path.empty()) {
        unlink(m_path.c_str());
    }
}

void listener::bind_tcp(std::string_view address) {
    const std::size_t colon = address.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
        fail(EINVAL, "endpoint");
    }
    std::string host(address.substr(0, colon));
    const std::uint16_t port = port_of(address.substr(colon + 1));
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
    } else if (host == "*") {
        host = "0.0.0.0";
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* list = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) {
        fail(EADDRNOTAVAIL, "host");
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
    sockaddr_storage bound{};
    std::memcpy(&bound, list->ai_addr, list->ai_addrlen);
    if (list->ai_family == AF_INET6) {
        reinterpret_cast<sockaddr_in6&>(bound).sin6_port = htons(port);
    } else {
        reinterpret_cast<sockaddr_in&>(bound).sin_port = htons(port);
    }
    m_fd = socket_of(list->ai_family);
    const int on = 1;
    // An engine that is restarted takes its port back at once.
    setsockopt(m_fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(m_fd.get(), reinterpret_cast<const sockaddr*>(&bound), list->ai_addrlen) != 0) {
        fail(errno, "bind");
    }
    socklen_t size = sizeof bound;
    if (getsockname(m_fd.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
        fail(errno, "getsockname");
    }
    m_port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                               : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

void listener::bind_unix(std::string_view path) {
    sockaddr_un address{};
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        fail(EINVAL, "path");
    }
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    struct stat status {};
    if (lstat(address.sun_path, &status) == 0) {
        if (!S_ISSOCK(status.st_mode) || answers(address)) {
            fail(EADDRINUSE, "path");
        }
        unlink(address.sun_path);
    }
    m_fd = socket_of(AF_UNIX);
    if (bind(m_fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        fail(errno, "bind");
    }
    m_path = path;
}

descriptor listener::accept() const {
    descriptor fd(accept4(m_fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.open() && m_path.empty()) {
        const int on = 1;
        // A router that vanished without a word is found in the end; small batches leave at once.
        setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return fd;
}

} // namespace kvpub
