/// Vector clocks: which event of one thread happens before which of another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace kvindex::model {

/// Number 0 sets up and checks at the end; the others are the threads of the model.
inline constexpr std::size_t max_threads = 5;

/// One event.
struct stamp {
    std::uint32_t thread = 0;
    std::uint32_t time = 0;
};

/// The events that happen before a point.
class clock {
public:
    bool covers(stamp event) const {
        return m_times[event.thread] >= event.time;
    }

    void join(const clock& other) {
        for (std::size_t i = 0; i < max_threads; i++) {
            m_times[i] = std::max(m_times[i], other.m_times[i]);
        }
    }

    stamp tick(std::uint32_t thread) {
        return {thread, ++m_times[thread]};
    }

    stamp last(std::uint32_t thread) const {
        return {thread, m_times[thread]};
    }

private:
    std::array<std::uint32_t, max_threads> m_times{};
};

} // namespace kvindex::model
