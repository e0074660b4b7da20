#include "publisher/service.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

namespace kvpub {
namespace {

constexpr std::size_t most_connections = 1024;
constexpr auto handshake = std::chrono::seconds(10);
constexpr int tick_millis = 1000;

double seconds_since_1970() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace

service::service(const settings& how)
    : m_settings(how), m_log(how.kept, how.rank, seconds_since_1970), m_live(how.endpoint),
      m_replay(how.replay_endpoint.empty() ? nullptr : std::make_unique<listener>(how.replay_endpoint)),
      m_bell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!m_bell.open()) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    m_told.port = m_live.port();
    m_told.replay_port = m_replay ? m_replay->port() : std::uint16_t{0};
    // The engine's signal handlers run on the engine's threads only.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        m_thread = std::thread([this] { run(); });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(m_thread.native_handle(), "kv-publisher");
}

service::~service() {
    stop(std::chrono::milliseconds(0));
}

void service::stop(std::chrono::milliseconds linger) {
    if (!m_thread.joinable()) {
        return;
    }
    m_linger_until.store((clock::now() + linger).time_since_epoch().count());
    m_stopping.store(true);
    wake();
    m_thread.join();
}

service::state service::stats() const {
    state out;
    {
        const std::lock_guard lock(m_told_mutex);
        out = m_told;
    }
    out.log = m_log.stats();
    return out;
}

void service::wake() {
    if (!m_rung.exchange(true, std::memory_order_acq_rel)) {
        const std::uint64_t one = 1;
        // Fails only when it is rung already beyond counting.
        [[maybe_unused]] const ssize_t written = write(m_bell.get(), &one, sizeof one);
    }
}

void service::run() {
    while (true) {
        wait();
        std::uint64_t rings = 0;
        [[maybe_unused]] const ssize_t n = read(m_bell.get(), &rings, sizeof rings);
        m_rung.exchange(false, std::memory_order_acq_rel);
        const bool stopping = m_stopping.load();
        m_log.seal();
        serve();
        {
            const std::lock_guard lock(m_told_mutex);
            m_told.counts = m_counts;
            m_told.subscribers = 0;
            for (const connection& c : m_connections) {
                m_told.subscribers += c.who.kind() == role::publish && c.who.greeted() ? 1u : 0u;
            }
        }
        if (stopping && (finished() || clock::now().time_since_epoch().count() >= m_linger_until.load())) {
            m_connections.clear();
            return;
        }
    }
}

/// Until a peer or the engine has something, or the clock has to be looked at.
void service::wait() {
    try {
        std::vector<pollfd> fds;
        fds.reserve(m_connections.size() + 3);
        fds.push_back({m_bell.get(), POLLIN, 0});
        fds.push_back({m_live.fd(), POLLIN, 0});
        if (m_replay) {
            fds.push_back({m_replay->fd(), POLLIN, 0});
        }
        const std::size_t first = fds.size();
        for (const connection& c : m_connections) {
            fds.push_back({c.who.fd(), static_cast<short>(c.who.sending() ? POLLIN | POLLOUT : POLLIN), 0});
        }
        if (poll(fds.data(), fds.size(), m_stopping.load() ? 10 : tick_millis) <= 0) {
            return;
        }
        std::size_t i = first;
        for (auto c = m_connections.begin(); c != m_connections.end(); i++) {
            bool stays = true;
            if ((fds[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
                stays = c->who.receive();
            }
            c = stays ? std::next(c) : m_connections.erase(c);
        }
        if ((fds[1].revents & POLLIN) != 0) {
            accept_from(m_live, role::publish);
        }
        if (m_replay && (fds[2].revents & POLLIN) != 0) {
            accept_from(*m_replay, role::replay);
        }
    } catch (const std::bad_alloc&) {
        // Peers connect again and ask for what they missed.
        m_connections.clear();
    }
}

void service::accept_from(const listener& from, role role) {
    while (true) {
        descriptor fd = from.accept();
        if (!fd.open()) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                // It stays readable; without a pause this would be a busy loop.
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            }
            return;
        }
        if (m_connections.size() < most_connections) {
            m_connections.push_back(
                {peer(std::move(fd), role, m_log, m_settings.topic, m_settings.queue_batches), clock::now()});
        }
    }
}

void service::serve() {
    const clock::time_point now = clock::now();
    for (auto c = m_connections.begin(); c != m_connections.end();) {
        bool stays = c->who.greeted() || now - c->since < handshake;
        try {
            stays = stays && c->who.pump(m_counts);
        } catch (const std::bad_alloc&) {
            stays = false;
        }
        c = stays ? std::next(c) : m_connections.erase(c);
    }
}

bool service::finished() const {
    for (const connection& c : m_connections) {
        if (c.who.greeted() && !c.who.idle()) {
            return false;
        }
    }
    return true;
}

} // namespace kvpub
