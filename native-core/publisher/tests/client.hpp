/// A router's end of a connection, blocking with a time limit. One thread.
#pragma once

#include "publisher/descriptor.hpp"
#include "publisher/zmtp.hpp"

#include <deque>
#include <string>
#include <vector>

namespace kvpub {

class client {
public:
    client(std::uint16_t port, std::string_view type);
    explicit client(const std::string& path, std::string_view type);

    void send(const bytes& raw);
    void send_message(const std::vector<bytes>& frames);

    /// The next message or command; fails the test and gives an empty one when none comes within ten seconds.
    zmtp::unit next();

    /// The next message.
    std::vector<bytes> message();

    /// True when the other side closes before it sends anything more.
    bool ended();

private:
    void greet(std::string_view type);
    bool read_more();

    descriptor m_fd;
    zmtp::reader m_reader;
    std::deque<zmtp::unit> m_units;
};

std::uint64_t number(const bytes& big_endian);
bytes big_endian(std::uint64_t value);

} // namespace kvpub
