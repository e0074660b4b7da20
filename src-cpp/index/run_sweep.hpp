/// Tidies the list of runs that a slot holds, a few entries at a time: what the slot no longer holds and what
/// is there twice goes. All at once would be milliseconds for a slot with tens of thousands of runs.
///
/// One list at a time. Between begin() and end() the list may only grow at its end. Writer only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kvindex::index {

class run_sweep {
public:
    static constexpr std::uint32_t nobody = 0xffffffffu;

    /// Entries looked at per step: more than twice as many as come meanwhile, so that lists stay short.
    static constexpr std::size_t per_step = 8;

    /// Whose list it is, or nobody.
    std::uint32_t slot() const {
        return m_slot;
    }

    void begin(std::uint32_t slot) {
        m_slot = slot;
    }

    /// Looks at some entries; ends by itself after the last one. held(run): whether the slot holds some of it.
    /// Throws std::bad_alloc without effect on what the list says.
    template <typename F>
    void step(std::vector<std::uint32_t>& runs, F&& held) {
        for (std::size_t n = 0; n < per_step && m_read < runs.size(); n++) {
            const std::uint32_t run = runs[m_read];
            if (run / 64 >= m_seen.size()) {
                m_seen.resize(run / 64 + 1 + m_seen.size() / 2);
            }
            std::uint64_t& seen = m_seen[run / 64];
            const std::uint64_t bit = std::uint64_t{1} << (run % 64);
            if ((seen & bit) == 0 && held(run)) {
                seen |= bit;
                runs[m_write++] = run;
            }
            m_read++;
        }
        if (m_read == runs.size()) {
            end(runs);
        }
    }

    /// Closes the gap between what was looked at and what was not, wherever the sweep is.
    void end(std::vector<std::uint32_t>& runs) noexcept {
        runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(m_write),
                   runs.begin() + static_cast<std::ptrdiff_t>(m_read));
        std::vector<std::uint64_t>().swap(m_seen);
        m_read = 0;
        m_write = 0;
        m_slot = nobody;
    }

private:
    std::uint32_t m_slot = nobody;
    std::size_t m_read = 0;
    std::size_t m_write = 0;           // entries below are tidy; from here to m_read they are void
    std::vector<std::uint64_t> m_seen; // bit set of the runs kept so far
};

} // namespace kvindex::index
