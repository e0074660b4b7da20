/// A value that many threads read and one thread at a time changes.
///
/// read()    any thread; waits while a writer is inside
/// write()   any thread; waits for the readers inside; readers that come meanwhile queue behind it
///
/// Everything about waiting lies here, so that readers can become wait-free without a change elsewhere.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <utility>

namespace kvindex::sync {

template <typename T>
class guarded {
public:
    template <typename... Args>
    explicit guarded(Args&&... args) : m_value(std::forward<Args>(args)...) {
    }

    guarded(const guarded&) = delete;
    guarded& operator=(const guarded&) = delete;

    template <typename F>
    decltype(auto) read(F&& f) const {
        std::unique_lock turn(m_turnstile);
        std::shared_lock inside(m_lock);
        turn.unlock();
        return std::forward<F>(f)(std::as_const(m_value));
    }

    template <typename F>
    decltype(auto) write(F&& f) {
        // The platform's lock prefers readers: without the turnstile a steady stream of look-ups would
        // keep events out for ever.
        std::unique_lock turn(m_turnstile);
        std::unique_lock inside(m_lock);
        turn.unlock();
        return std::forward<F>(f)(m_value);
    }

private:
    mutable std::mutex m_turnstile;
    mutable std::shared_mutex m_lock;
    T m_value; // guarded by m_lock
};

} // namespace kvindex::sync
