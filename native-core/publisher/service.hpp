/// The publisher's thread: accepts routers, sends batches, answers replays.
///
/// append(), stats()  any thread; neither waits for the network
/// the rest           constructor and destructor by one thread each
#pragma once

#include "publisher/batch_log.hpp"
#include "publisher/listener.hpp"
#include "publisher/peer.hpp"

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace kvpub {

class service {
public:
    struct settings {
        std::string endpoint{};
        std::string replay_endpoint{}; ///< empty: none
        std::string topic{};
        std::uint64_t queue_batches = 0;
        batch_log::limits kept{};
        std::uint32_t rank = 0;
    };

    struct state {
        batch_log::numbers log{};
        traffic counts{};
        std::uint32_t subscribers = 0;
        std::uint16_t port = 0;
        std::uint16_t replay_port = 0;
    };

    /// Binds and starts; throws address_error when an endpoint cannot be had, else std::system_error.
    explicit service(const settings& how);
    ~service();
    service(const service&) = delete;
    service& operator=(const service&) = delete;

    template <typename F>
    void append(F&& put) {
        m_log.append(std::forward<F>(put));
        wake();
    }

    state stats() const;

    /// Sends what is left for at most so long, then ends the thread.
    void stop(std::chrono::milliseconds linger);

private:
    using clock = std::chrono::steady_clock;

    struct connection {
        peer who;
        clock::time_point since;
    };

    void wake();
    void run();
    void wait();
    void accept_from(const listener& from, role role);
    void serve();
    bool finished() const;

    const settings m_settings;
    batch_log m_log;
    listener m_live;
    std::unique_ptr<listener> m_replay;
    descriptor m_bell; ///< eventfd
    // acq_rel in wake() and run(): an event that was added before the bell was found rung is seen by the seal
    // that follows the release of the bell.
    std::atomic<bool> m_rung{false};
    std::atomic<bool> m_stopping{false};
    std::atomic<std::int64_t> m_linger_until{0}; ///< ticks of `clock`; written before m_stopping

    // The thread's own.
    std::list<connection> m_connections;
    traffic m_counts;

    mutable std::mutex m_told_mutex; ///< of m_told, what the thread has told last
    state m_told;
    std::thread m_thread;
};

} // namespace kvpub
