#include "publisher/peer.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace kvpub {
namespace {

constexpr std::size_t enough_waiting = std::size_t{256} << 10;
constexpr std::size_t most_subscriptions = 256;
constexpr std::size_t most_answers = 16;
constexpr std::size_t most_pongs = 4096; ///< bytes that may wait before a peer that never reads is given up

std::span<const std::uint8_t> as_bytes(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::array<std::uint8_t, 8> big_endian(std::uint64_t value) {
    std::array<std::uint8_t, 8> out;
    for (std::size_t i = 0; i < out.size(); i++) {
        out[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
    }
    return out;
}

} // namespace

peer::peer(descriptor fd, role role, const batch_log& log, const std::string& topic, std::uint64_t queue)
    : m_fd(std::move(fd)), m_role(role), m_log(log), m_topic(topic), m_queue(queue),
      m_out(zmtp::hello(role == role::publish ? "PUB" : "ROUTER")) {
}

bool peer::idle() const {
    return !sending() && (m_role == role::replay ? m_answers.empty() : !wants() || m_next >= m_log.end());
}

bool peer::receive() {
    std::array<std::uint8_t, 16384> buffer;
    std::vector<zmtp::unit> units;
    while (true) {
        const ssize_t n = recv(m_fd.get(), buffer.data(), buffer.size(), 0);
        if (n == 0) {
            return false;
        }
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        units.clear();
        if (!m_reader.feed({buffer.data(), static_cast<std::size_t>(n)}, units)) {
            return false;
        }
        for (zmtp::unit& u : units) {
            if (!take(u)) {
                return false;
            }
        }
        if (static_cast<std::size_t>(n) < buffer.size()) {
            return true; // others get their turn
        }
    }
}

bool peer::take(zmtp::unit& unit) {
    if (!m_greeted) {
        const std::string_view type = zmtp::peer_type(unit);
        m_greeted = m_role == role::publish ? type == "SUB" || type == "XSUB"
                                            : type == "DEALER" || type == "REQ" || type == "ROUTER";
        return m_greeted;
    }
    if (unit.command) {
        return command(unit);
    }
    if (m_role == role::replay) {
        return ask(unit);
    }
    const bytes& body = unit.frames.front();
    // Version 3.0 says it so. Anything else a subscriber may send is for nobody.
    if (unit.frames.size() == 1 && !body.empty() && body[0] <= 1) {
        return subscription(body[0] == 1, std::span(body).subspan(1));
    }
    return true;
}

bool peer::command(const zmtp::unit& unit) {
    std::span<const std::uint8_t> rest;
    const std::string_view name = zmtp::command_name(unit, rest);
    if (name == "PING") {
        const bytes reply = zmtp::pong(rest);
        if (m_out.size() - m_sent > enough_waiting + most_pongs) {
            return true; // it does not read; its own time-out will tell it
        }
        // Between messages: everything in m_out is whole.
        m_out.insert(m_out.end(), reply.begin(), reply.end());
        return true;
    }
    if (m_role == role::publish && (name == "SUBSCRIBE" || name == "CANCEL")) {
        return subscription(name == "SUBSCRIBE", rest);
    }
    return name != "ERROR";
}

bool peer::subscription(bool add, std::span<const std::uint8_t> prefix) {
    if (add) {
        if (m_subscriptions.size() == most_subscriptions) {
            return false;
        }
        if (!wants()) {
            m_next = m_log.end(); // what was before is asked for by replay
        }
        m_subscriptions.emplace_back(prefix.begin(), prefix.end());
        return true;
    }
    const auto found = std::find_if(m_subscriptions.begin(), m_subscriptions.end(),
                                    [&](const bytes& s) { return std::ranges::equal(s, prefix); });
    if (found != m_subscriptions.end()) {
        m_subscriptions.erase(found);
    }
    return true;
}

/// Whether the topic begins with something it has subscribed to.
bool peer::wants() const {
    const std::span<const std::uint8_t> topic = as_bytes(m_topic);
    return std::ranges::any_of(m_subscriptions, [&](const bytes& s) {
        return s.size() <= topic.size() && std::equal(s.begin(), s.end(), topic.begin());
    });
}

/// [empty, first number]: big-endian, of any length, as the engines take it. Anything else gets no answer.
bool peer::ask(const zmtp::unit& request) {
    if (request.frames.size() != 2 || !request.frames[0].empty()) {
        return true;
    }
    if (m_answers.size() == most_answers) {
        return false;
    }
    std::uint64_t first = 0;
    bool beyond = false;
    for (const std::uint8_t b : request.frames[1]) {
        beyond |= (first >> 56) != 0;
        first = (first << 8) | b;
    }
    m_answers.push_back({beyond ? std::numeric_limits<std::uint64_t>::max() : first, m_log.end()});
    return true;
}

bool peer::pump(traffic& counts) {
    while (true) {
        if (!flush()) {
            return false;
        }
        if (sending() || !m_greeted || !fill(counts)) {
            return true;
        }
    }
}

/// True when something was added to what waits.
bool peer::fill(traffic& counts) {
    if (!sending()) {
        m_out.clear();
        m_sent = 0;
    }
    bool any = false;
    while (m_out.size() < enough_waiting &&
           (m_role == role::publish ? fill_live(counts) : fill_replay(counts))) {
        any = true;
    }
    return any;
}

bool peer::fill_live(traffic& counts) {
    if (!wants()) {
        return false;
    }
    const std::uint64_t end = m_log.end();
    const std::uint64_t before = m_next;
    if (end - m_next > m_queue) {
        m_next = end - m_queue;
    }
    const std::shared_ptr<const batch> found = m_log.next(m_next, end);
    // What lies between was evicted, dropped here, or is a hole.
    counts.dropped_batches += m_next - before - (found ? 1 : 0);
    if (!found) {
        return false;
    }
    put_message(found->sequence, as_bytes(m_topic), found->payload);
    return true;
}

bool peer::fill_replay(traffic& counts) {
    if (m_answers.empty()) {
        return false;
    }
    answer& current = m_answers.front();
    const std::span<const std::uint8_t> empty;
    zmtp::put_frame(m_out, empty, true);
    const std::shared_ptr<const batch> found = m_log.next(current.next, current.until);
    if (found) {
        counts.replayed_batches++;
        put_message(found->sequence, as_bytes(m_topic), found->payload);
        return true;
    }
    counts.replays++;
    put_message(std::numeric_limits<std::uint64_t>::max(), empty, bytes());
    m_answers.pop_front();
    return true;
}

void peer::put_message(std::uint64_t sequence, std::span<const std::uint8_t> topic, const bytes& payload) {
    zmtp::put_frame(m_out, topic, true);
    zmtp::put_frame(m_out, big_endian(sequence), true);
    zmtp::put_frame(m_out, payload, false);
}

bool peer::flush() {
    while (sending()) {
        const ssize_t n = send(m_fd.get(), m_out.data() + m_sent, m_out.size() - m_sent, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN || errno == EWOULDBLOCK;
        }
        m_sent += static_cast<std::size_t>(n);
    }
    // One large batch does not keep its memory for ever.
    if (m_out.capacity() > 4 * enough_waiting) {
        m_out = bytes();
        m_sent = 0;
    }
    return true;
}

} // namespace kvpub
