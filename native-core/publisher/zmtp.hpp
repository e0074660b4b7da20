/// ZeroMQ's transport protocol, version 3.0 with the mechanism NULL: what a publisher needs of it, without
/// sockets.
#pragma once

#include "publisher/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kvpub::zmtp {

/// What a peer has sent: a command, or the frames of a message.
struct unit {
    bool command = false;
    std::vector<bytes> frames{};
};

/// Reads what one peer sends, in any pieces: the greeting, then commands and messages. One thread.
///
/// Takes no more memory than one message of the largest size that a subscriber or a replay request can have.
class reader {
public:
    /// False when this is not the protocol, another mechanism, or larger than anything that makes sense; the
    /// connection can only be closed then.
    bool feed(std::span<const std::uint8_t> data, std::vector<unit>& out);

private:
    bool greeting_holds() const;

    /// Takes one frame off the front of m_pending from `at` on; false: it is not whole. `bad` is set on
    /// nonsense.
    bool take_frame(std::size_t& at, std::vector<unit>& out, bool& bad);

    bytes m_pending;
    bool m_greeted = false;
    unit m_message;
    std::size_t m_message_bytes = 0;
};

/// The greeting and the READY command of a socket of this type, `PUB` or `ROUTER`.
bytes hello(std::string_view socket_type);

/// The type that a READY command names; empty when it is no READY command.
std::string_view peer_type(const unit& ready);

/// Appends a frame of a message.
void put_frame(bytes& out, std::span<const std::uint8_t> body, bool more);

/// The name of a command; empty when it has none. `rest` is what follows.
std::string_view command_name(const unit& command, std::span<const std::uint8_t>& rest);

/// Answers a PING (its name taken off already); empty when it is malformed.
bytes pong(std::span<const std::uint8_t> ping);

} // namespace kvpub::zmtp
