/// Runs the threads of a model as fibers, one atomic operation at a time, in every order that makes a
/// difference.
///
/// Depth first and without stored states: each execution replays the choices of the one before up to the
/// last that has another option left. A choice is which thread goes next, or which store a load sees.
///
/// Not for use by more than one thread. A fiber that is abandoned is not unwound: the bodies of a model own
/// no memory; what they share lies in the state.
#pragma once

#include "clock.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <ucontext.h>
#include <vector>

namespace kvindex::model {

struct options {
    /// How often a thread that could go on may be interrupted, or unbounded. A bound rules out `reduce`.
    std::uint32_t preemptions = 0xffffffffu;
    /// Leave out orders that differ only in operations which do not touch each other (sleep sets).
    bool reduce = true;
    /// Loads may see older stores where C++ allows it. False: as if all were seq_cst.
    bool stale_reads = true;
    /// The search is incomplete beyond this.
    std::uint64_t max_executions = 2'000'000;
    /// More operations in one execution are a failure: it has no end.
    std::uint32_t max_steps = 1000;
};

struct outcome {
    std::string failure;  ///< empty when the property held in each execution
    std::string schedule; ///< of the failing execution, one operation a line
    std::uint64_t executions = 0;
    std::uint64_t cut_short = 0; ///< given up as equal to another one
    bool complete = false;       ///< nothing is left to explore
};

enum class op_kind : std::uint8_t { load, store, rmw, yield };

/// What a thread is about to do.
struct operation {
    op_kind kind = op_kind::yield;
    const void* where = nullptr;
    bool seq_cst = false;
};

/// False when the two give the same in either order.
bool dependent(const operation& a, const operation& b);

class explorer {
public:
    explicit explorer(const options& limits);
    ~explorer();
    explorer(const explorer&) = delete;
    explorer& operator=(const explorer&) = delete;

    /// `setup` builds a fresh state, `finally` runs after all threads of an execution and sees all they did.
    outcome run(const std::function<void()>& setup, std::vector<std::function<void()>> threads,
                const std::function<void()>& finally);

    /// The explorer that runs now.
    static explorer& current();

    // For the bodies and the types they use:

    /// Stops until the calling thread is chosen, then begins an event. Call before each shared operation.
    void step(operation op);
    /// One of `count` options, each in some execution.
    std::uint32_t choose(std::uint32_t count);
    /// Ends the execution and the search. Returns only outside of the threads.
    void fail(const std::string& what);
    /// Begins an event that is no choice: an access that is ordered or else a failure.
    stamp tick();
    /// A line of the schedule.
    void note(const char* what, std::uint32_t location, std::memory_order order, std::uint64_t value);

    std::uint32_t thread() const {
        return m_current;
    }
    clock& now() {
        return m_threads[m_current].now;
    }
    const options& limits() const {
        return m_limits;
    }
    std::uint32_t new_location() {
        return m_locations++;
    }
    std::uint64_t new_store() {
        return ++m_stores;
    }
    /// Stores up to this one were there when the thread last came back from yielding. It sees them: a store
    /// becomes visible in finite time. Without newer ones it need not come back.
    std::uint64_t seen_stores() const {
        return m_threads[m_current].seen_stores;
    }

private:
    struct fiber {
        ucontext_t context{};
        std::unique_ptr<char[]> stack;
        clock now;
        operation pending;
        std::uint64_t seen_stores = 0;
        bool done = false;
    };
    struct choice {
        std::uint32_t taken = 0;
        std::uint32_t count = 0;
    };
    struct line {
        const char* what;
        std::uint32_t thread;
        std::uint32_t location;
        std::memory_order order;
        std::uint64_t value;
    };

    static void enter();
    void begin();
    void start_fibers();
    static void prepare(fiber& f);
    bool enabled(std::uint32_t thread) const;
    std::uint32_t pick();
    void switch_to(std::uint32_t thread);
    bool next_path();
    std::string schedule() const;

    options m_limits;
    std::vector<std::function<void()>> m_bodies;
    std::vector<fiber> m_threads; // [0] is the caller of run()
    std::vector<choice> m_path;
    std::vector<line> m_lines;
    std::size_t m_depth = 0; // choices of m_path that were made in this execution
    std::uint32_t m_current = 0;
    std::uint32_t m_asleep = 0; // one bit a thread: its next operation was explored from an equal state
    std::uint32_t m_preemptions = 0;
    std::uint32_t m_steps = 0;
    std::uint64_t m_stores = 0;
    std::uint32_t m_locations = 0;
    bool m_starting = false;
    bool m_cut_short = false;
    std::string m_failure;
    std::string m_schedule;
};

} // namespace kvindex::model
