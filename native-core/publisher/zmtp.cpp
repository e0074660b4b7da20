#include "publisher/zmtp.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace kvpub::zmtp {
namespace {

constexpr std::size_t greeting_size = 64;
constexpr std::size_t largest_frame = 16384;
constexpr std::size_t largest_message = 32768;
constexpr std::size_t most_frames = 16;
constexpr std::uint8_t flag_more = 1;
constexpr std::uint8_t flag_long = 2;
constexpr std::uint8_t flag_command = 4;
constexpr std::size_t long_size = 8;
constexpr std::size_t largest_ping_context = 16;

std::string_view text_of(std::span<const std::uint8_t> body) {
    return {reinterpret_cast<const char*>(body.data()), body.size()};
}

} // namespace

bool reader::feed(std::span<const std::uint8_t> data, std::vector<unit>& out) {
    m_pending.insert(m_pending.end(), data.begin(), data.end());
    std::size_t at = 0;
    if (!m_greeted) {
        if (!greeting_holds()) {
            return false;
        }
        if (m_pending.size() < greeting_size) {
            return true;
        }
        m_greeted = true;
        at = greeting_size;
    }
    bool bad = false;
    while (take_frame(at, out, bad)) {
    }
    m_pending.erase(m_pending.begin(), m_pending.begin() + static_cast<std::ptrdiff_t>(at));
    return !bad;
}

/// As far as it has come: what is wrong is seen at the first wrong byte.
bool reader::greeting_holds() const {
    const std::size_t n = m_pending.size();
    constexpr std::array<std::uint8_t, 20> null_mechanism{'N', 'U', 'L', 'L'};
    const auto is = [&](std::size_t at, auto&& holds) { return n <= at || holds(m_pending[at]); };
    const std::size_t mechanism = n > 12 ? std::min<std::size_t>(n - 12, null_mechanism.size()) : 0;
    return is(0, [](std::uint8_t b) { return b == 0xff; }) && is(9, [](std::uint8_t b) { return b == 0x7f; }) &&
           is(10, [](std::uint8_t major) { return major >= 3; }) &&
           (mechanism == 0 || std::memcmp(m_pending.data() + 12, null_mechanism.data(), mechanism) == 0);
}

bool reader::take_frame(std::size_t& at, std::vector<unit>& out, bool& bad) {
    const std::size_t left = m_pending.size() - at;
    if (left < 2) {
        return false;
    }
    const std::uint8_t flags = m_pending[at];
    const bool command = (flags & flag_command) != 0;
    const bool more = (flags & flag_more) != 0;
    if ((flags & ~(flag_more | flag_long | flag_command)) != 0 || (command && more)) {
        bad = true;
        return false;
    }
    std::size_t head = 2;
    std::uint64_t size = m_pending[at + 1];
    if ((flags & flag_long) != 0) {
        head = 1 + long_size;
        if (left < head) {
            return false;
        }
        size = 0;
        for (std::size_t i = 0; i < long_size; i++) {
            size = (size << 8) | m_pending[at + 1 + i];
        }
    }
    if (size > largest_frame ||
        (!command && (m_message_bytes + size > largest_message || m_message.frames.size() == most_frames))) {
        bad = true;
        return false;
    }
    if (left - head < size) {
        return false;
    }
    const auto from = m_pending.begin() + static_cast<std::ptrdiff_t>(at + head);
    bytes body(from, from + static_cast<std::ptrdiff_t>(size));
    at += head + size;
    if (command) {
        unit whole{.command = true, .frames = {}};
        whole.frames.push_back(std::move(body));
        out.push_back(std::move(whole));
        return true;
    }
    m_message_bytes += body.size();
    m_message.frames.push_back(std::move(body));
    if (!more) {
        out.push_back(std::move(m_message));
        m_message = unit();
        m_message_bytes = 0;
    }
    return true;
}

bytes hello(std::string_view socket_type) {
    bytes out(greeting_size, 0);
    out[0] = 0xff;
    out[9] = 0x7f;
    out[10] = 3; // 3.0: subscriptions come as messages
    std::memcpy(out.data() + 12, "NULL", 4);
    std::string ready("\5READY\13Socket-Type");
    ready.append(3, '\0').push_back(static_cast<char>(socket_type.size()));
    ready.append(socket_type);
    out.push_back(flag_command);
    out.push_back(static_cast<std::uint8_t>(ready.size()));
    out.insert(out.end(), ready.begin(), ready.end());
    return out;
}

std::string_view command_name(const unit& command, std::span<const std::uint8_t>& rest) {
    const std::span<const std::uint8_t> body(command.frames.front());
    if (body.empty() || body.size() < 1u + body[0]) {
        return {};
    }
    rest = body.subspan(1u + body[0]);
    return text_of(body.subspan(1, body[0]));
}

std::string_view peer_type(const unit& ready) {
    std::span<const std::uint8_t> rest;
    if (!ready.command || command_name(ready, rest) != "READY") {
        return {};
    }
    while (!rest.empty()) {
        const std::size_t name_size = rest[0];
        if (rest.size() < 1 + name_size + 4) {
            return {};
        }
        const std::string_view name = text_of(rest.subspan(1, name_size));
        std::size_t size = 0;
        for (std::size_t i = 0; i < 4; i++) {
            size = (size << 8) | rest[1 + name_size + i];
        }
        rest = rest.subspan(1 + name_size + 4);
        if (rest.size() < size) {
            return {};
        }
        constexpr std::string_view wanted = "socket-type";
        if (std::ranges::equal(
                name, wanted, {}, [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; },
                [](char c) { return static_cast<int>(c); })) {
            return text_of(rest.subspan(0, size));
        }
        rest = rest.subspan(size);
    }
    return {};
}

void put_frame(bytes& out, std::span<const std::uint8_t> body, bool more) {
    const std::uint8_t flags = more ? flag_more : 0;
    if (body.size() <= 0xff) {
        out.push_back(flags);
        out.push_back(static_cast<std::uint8_t>(body.size()));
    } else {
        out.push_back(flags | flag_long);
        for (std::size_t i = long_size; i-- > 0;) {
            out.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(body.size()) >> (8 * i)));
        }
    }
    out.insert(out.end(), body.begin(), body.end());
}

bytes pong(std::span<const std::uint8_t> ping) {
    // Two bytes of time to live, then a context that comes back.
    if (ping.size() < 2 || ping.size() > 2 + largest_ping_context) {
        return {};
    }
    constexpr std::string_view name = "\4PONG";
    const std::span<const std::uint8_t> context = ping.subspan(2);
    bytes out(2 + name.size() + context.size());
    out[0] = flag_command;
    out[1] = static_cast<std::uint8_t>(out.size() - 2);
    std::ranges::copy(name, out.begin() + 2);
    std::ranges::copy(context, out.end() - static_cast<std::ptrdiff_t>(context.size()));
    return out;
}

} // namespace kvpub::zmtp
