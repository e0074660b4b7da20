/// One router's connection, as a subscriber or as one who asks for a replay. The publisher's thread alone.
///
/// What waits to be sent is bounded: the next batch is taken from the log only when little is left.
#pragma once

#include "publisher/batch_log.hpp"
#include "publisher/descriptor.hpp"
#include "publisher/zmtp.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace kvpub {

enum class role { publish, replay };

/// Counted over all connections; the publisher's thread writes, any thread reads through service::stats.
struct traffic {
    std::uint64_t dropped_batches = 0;
    std::uint64_t replays = 0;
    std::uint64_t replayed_batches = 0;
};

class peer {
public:
    peer(descriptor fd, role role, const batch_log& log, const std::string& topic, std::uint64_t queue);

    int fd() const {
        return m_fd.get();
    }
    role kind() const {
        return m_role;
    }
    bool greeted() const {
        return m_greeted;
    }

    /// Something waits for the socket to take it.
    bool sending() const {
        return m_sent < m_out.size();
    }

    /// All that this peer is to get has been handed to the system.
    bool idle() const;

    /// Reads what has come. False: the connection has ended, or is not worth having.
    bool receive();

    /// Takes batches from the log and sends as much as the system takes. False: the connection has ended.
    bool pump(traffic& counts);

private:
    struct answer {
        std::uint64_t next = 0;
        std::uint64_t until = 0;
    };

    bool take(zmtp::unit& unit);
    bool command(const zmtp::unit& unit);
    bool subscription(bool add, std::span<const std::uint8_t> prefix);
    bool ask(const zmtp::unit& request);
    bool wants() const;
    bool fill(traffic& counts);
    bool fill_live(traffic& counts);
    bool fill_replay(traffic& counts);
    void put_message(std::uint64_t sequence, std::span<const std::uint8_t> topic, const bytes& payload);
    bool flush();

    descriptor m_fd;
    role m_role;
    const batch_log& m_log;
    const std::string& m_topic;
    std::uint64_t m_queue;
    zmtp::reader m_reader;
    bool m_greeted = false;
    bytes m_out;
    std::size_t m_sent = 0;
    std::vector<bytes> m_subscriptions; ///< prefixes, as often as they were asked for
    std::uint64_t m_next = 0;           ///< live: the batch that is sent next
    std::deque<answer> m_answers;
};

} // namespace kvpub
