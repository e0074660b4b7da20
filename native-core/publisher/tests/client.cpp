#include "client.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>

namespace kvpub {
namespace {

constexpr int patience_millis = 10000;

descriptor connected(int family, const sockaddr* address, socklen_t size) {
    descriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), address, size), 0);
    return fd;
}

} // namespace

client::client(std::uint16_t port, std::string_view type) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    m_fd = connected(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    greet(type);
}

client::client(const std::string& path, std::string_view type) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    m_fd = connected(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    greet(type);
}

void client::greet(std::string_view type) {
    if (!type.empty()) {
        send(zmtp::hello(type));
        EXPECT_FALSE(zmtp::peer_type(next()).empty());
    }
}

void client::send(const bytes& raw) {
    EXPECT_EQ(::send(m_fd.get(), raw.data(), raw.size(), MSG_NOSIGNAL), static_cast<ssize_t>(raw.size()));
}

void client::send_message(const std::vector<bytes>& frames) {
    bytes raw;
    for (std::size_t i = 0; i < frames.size(); i++) {
        zmtp::put_frame(raw, frames[i], i + 1 < frames.size());
    }
    send(raw);
}

bool client::read_more() {
    pollfd p{m_fd.get(), POLLIN, 0};
    if (poll(&p, 1, patience_millis) != 1) {
        ADD_FAILURE() << "nothing came";
        return false;
    }
    std::array<std::uint8_t, 4096> buffer;
    const ssize_t n = recv(m_fd.get(), buffer.data(), buffer.size(), 0);
    if (n <= 0) {
        return false;
    }
    std::vector<zmtp::unit> units;
    EXPECT_TRUE(m_reader.feed({buffer.data(), static_cast<std::size_t>(n)}, units));
    m_units.insert(m_units.end(), units.begin(), units.end());
    return true;
}

zmtp::unit client::next() {
    while (m_units.empty()) {
        if (!read_more()) {
            ADD_FAILURE() << "the connection has ended";
            return {.command = true, .frames = {bytes()}};
        }
    }
    zmtp::unit out = m_units.front();
    m_units.pop_front();
    return out;
}

std::vector<bytes> client::message() {
    while (true) {
        const zmtp::unit found = next();
        if (!found.command || found.frames.front().empty()) {
            return found.frames;
        }
    }
}

bool client::ended() {
    while (m_units.empty() && read_more()) {
    }
    return m_units.empty();
}

std::uint64_t number(const bytes& big_endian) {
    std::uint64_t out = 0;
    for (const std::uint8_t b : big_endian) {
        out = (out << 8) | b;
    }
    return out;
}

bytes big_endian(std::uint64_t value) {
    bytes out;
    for (int shift = 56; shift >= 0; shift -= 8) {
        out.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    return out;
}

} // namespace kvpub
