/// Readers and a writer together, against each alone, per second of their own thread's CPU time.
///
///   together_bench [--residencies N] [--workers N] [--rounds N] [--slice MS] [--json FILE] [--smoke] [--help]
///
/// The writer goes round: a new prompt comes, an old one leaves, 63 conversations in between grow by a block,
/// all in one apply(). The readers ask for prompts anywhere in the index, which are always whole, and check it.
/// Slices of writer alone, readers alone and all together take turns, so that what the machine does otherwise
/// falls on all alike. Making prompts is not in the times; the CPU clock's own cost is taken off.
///
/// One reader: each thread has a core of its own (where the system lets it). Two readers: three threads share
/// the two cores as the scheduler likes.
#include "together_threads.hpp"

#include <chrono>
#include <cinttypes>
#include <string_view>
#include <thread>

#include <sched.h>

namespace {

using namespace kvindex;
using namespace kvindex::bench;

struct settings {
    fleet_shape shape;
    std::uint64_t residencies = 6'400'000;
    std::uint32_t rounds = 10;
    std::uint32_t slice = 150; ///< milliseconds of wall time
    std::string json;
};

/// Cores that this process may use.
std::vector<std::size_t> allowed_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<std::size_t> cores;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        for (std::size_t i = 0; i < CPU_SETSIZE; i++) {
            if (CPU_ISSET(i, &set)) {
                cores.push_back(i);
            }
        }
    }
    return cores;
}

/// This thread on these cores only; false when the system does not let it.
bool run_on(const std::vector<std::size_t>& cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const std::size_t core : cores) {
        CPU_SET(core, &set);
    }
    return sched_setaffinity(0, sizeof(set), &set) == 0;
}

std::uint64_t fill(prefix_index& index, const settings& s) {
    for (std::uint32_t w = 0; w < s.shape.workers; w++) {
        require(index.open_slot().has_value(), "no slot left");
    }
    prompt_blocks p(s.shape);
    std::uint64_t prompts = 0;
    for (std::uint64_t held = 0; held < s.residencies; prompts++) {
        p.make(prompts);
        for (std::uint32_t copy = 0; copy < s.shape.holders; copy++) {
            const event e = p.stored(holder_of(s.shape, prompts, copy), 0, s.shape.shared + s.shape.own);
            require(index.apply({&e, 1}).applied == 1, "an event was not applied");
            held += s.shape.own;
        }
    }
    return prompts;
}

/// The writer and some readers, in slices.
class rounds {
public:
    rounds(const settings& s, prefix_index& index, writer& w, std::uint64_t prompts, std::uint32_t readers,
           const std::vector<std::size_t>& cores)
        : m_settings(s), m_writer(w), m_clock(cpu_clock_cost()), m_cores(cores),
          m_pinned(readers == 1 && cores.size() > 1) {
        for (std::uint32_t i = 0; i < readers; i++) {
            m_readers.emplace_back(index, s.shape, prompts, std::uint64_t{i} << 40 | 1);
        }
    }

    void run() {
        for (std::uint32_t i = 0; i < m_settings.rounds; i++) {
            slice(true, false);
            slice(false, true);
            slice(true, true);
        }
    }

    void print() {
        const auto readers = static_cast<std::uint32_t>(m_readers.size());
        const double writes = ratio(m_writes);
        const double reads = ratio(m_reads);
        std::printf("%u reader%s + writer, %s\n", readers, readers == 1 ? "" : "s",
                    m_pinned ? "each on a core of its own" : "sharing the cores");
        std::printf("  writer  M block-ops per CPU second: alone %6.1f  together %6.1f  ratio %.2f (median of "
                    "%u rounds)\n",
                    rate(m_writes, 0) / 1e6, rate(m_writes, 1) / 1e6, writes, m_settings.rounds);
        std::printf("  reader  M look-ups per CPU second:  alone %6.2f  together %6.2f  ratio %.2f\n",
                    rate(m_reads, 0) / 1e6, rate(m_reads, 1) / 1e6, reads);
        for (const int together : {0, 1}) {
            latencies& l = m_latencies[together];
            std::printf("  look-up %s ns p50/p99/p99.9: CPU %u / %u / %u   wall %u / %u / %u   of %zu\n",
                        together != 0 ? "together" : "alone   ", percentile(l.cpu, 0.5),
                        percentile(l.cpu, 0.99), percentile(l.cpu, 0.999), percentile(l.wall, 0.5),
                        percentile(l.wall, 0.99), percentile(l.wall, 0.999), l.cpu.size());
        }
        std::fflush(stdout);
        if (!m_settings.json.empty()) {
            write_json(writes, reads);
        }
    }

private:
    using by_round = std::vector<work>;

    /// One slice of wall time; what came out is added to the tables.
    void slice(bool writes, bool reads) {
        const int together = writes && reads ? 1 : 0;
        std::atomic<bool> stop{false};
        std::vector<std::thread> threads;
        work written;
        std::vector<work> asked(m_readers.size());
        std::vector<latencies> spans(m_readers.size());
        if (writes) {
            threads.emplace_back([&] {
                place(0);
                written = m_writer.run(stop, m_clock);
            });
        }
        for (std::size_t i = 0; reads && i < m_readers.size(); i++) {
            threads.emplace_back([&, i] {
                place(1);
                asked[i] = m_readers[i].run(stop, m_clock, spans[i]);
            });
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(m_settings.slice)); // how long a slice is
        stop.store(true, std::memory_order_relaxed);
        for (std::thread& t : threads) {
            t.join();
        }
        if (writes) {
            m_writes[together].push_back(written);
        }
        if (reads) {
            work all;
            for (std::size_t i = 0; i < asked.size(); i++) {
                all.units += asked[i].units;
                all.nanos += asked[i].nanos;
                latencies& l = m_latencies[together];
                l.cpu.insert(l.cpu.end(), spans[i].cpu.begin(), spans[i].cpu.end());
                l.wall.insert(l.wall.end(), spans[i].wall.begin(), spans[i].wall.end());
            }
            m_reads[together].push_back(all);
        }
    }

    void place(std::size_t core) const {
        if (m_pinned) {
            require(run_on({m_cores[core]}), "the system does not let a thread stay on a core");
        }
    }

    /// The middle one of the rounds' ratios.
    static double ratio(const by_round (&of)[2]) {
        std::vector<double> all;
        for (std::size_t i = 0; i < of[0].size(); i++) {
            const double alone = of[0][i].per_second();
            if (alone > 0) {
                all.push_back(of[1][i].per_second() / alone);
            }
        }
        std::sort(all.begin(), all.end());
        return all.empty() ? 0 : all[all.size() / 2];
    }

    static double rate(const by_round (&of)[2], int together) {
        work all;
        for (const work& w : of[together]) {
            all.units += w.units;
            all.nanos += w.nanos;
        }
        return all.per_second();
    }

    void write_json(double writes, double reads) {
        std::FILE* const f = std::fopen(m_settings.json.c_str(), "a");
        require(f != nullptr, "the file for JSON cannot be opened");
        std::fprintf(f,
                     "{\"readers\":%zu,\"pinned\":%s,\"writer_alone\":%.0f,\"writer_together\":%.0f,\"writer_"
                     "ratio\":%.3f,"
                     "\"reader_alone\":%.0f,\"reader_together\":%.0f,\"reader_ratio\":%.3f",
                     m_readers.size(), m_pinned ? "true" : "false", rate(m_writes, 0), rate(m_writes, 1),
                     writes, rate(m_reads, 0), rate(m_reads, 1), reads);
        for (const int together : {0, 1}) {
            latencies& l = m_latencies[together];
            const char* const when = together != 0 ? "together" : "alone";
            std::fprintf(f, ",\"%s_cpu\":[%u,%u,%u],\"%s_wall\":[%u,%u,%u]", when, percentile(l.cpu, 0.5),
                         percentile(l.cpu, 0.99), percentile(l.cpu, 0.999), when, percentile(l.wall, 0.5),
                         percentile(l.wall, 0.99), percentile(l.wall, 0.999));
        }
        std::fprintf(f, "}\n");
        require(std::fclose(f) == 0, "the JSON could not be written");
    }

    const settings& m_settings;
    writer& m_writer;
    const std::uint32_t m_clock;
    const std::vector<std::size_t> m_cores;
    const bool m_pinned;
    std::vector<reader> m_readers;
    by_round m_writes[2]; ///< alone, together
    by_round m_reads[2];
    latencies m_latencies[2];
};

int usage(int code) {
    std::fprintf(
        code == 0 ? stdout : stderr,
        "usage: together_bench [--residencies N] [--workers N] [--rounds N] [--slice MS] [--json FILE]\n"
        "                      [--smoke] [--help]\n"
        "Default: 6400000 residencies, 100 workers, 10 rounds of three slices of 150 ms each.\n");
    return code;
}

} // namespace

int main(int argc, char** argv) {
    settings s;
    for (int i = 1; i < argc; i++) {
        const std::string_view name = argv[i];
        if (name == "--help") {
            return usage(0);
        }
        if (name == "--smoke") {
            s.residencies = 50'000;
            s.rounds = 2;
            s.slice = 10;
            continue;
        }
        if (i + 1 == argc) {
            return usage(2);
        }
        const char* const value = argv[++i];
        const std::uint64_t n = std::strtoull(value, nullptr, 10);
        if (name == "--json") {
            s.json = value;
        } else if (n == 0 || n > 1'000'000'000) {
            return usage(2);
        } else if (name == "--residencies") {
            s.residencies = n;
        } else if (name == "--workers") {
            s.shape.workers =
                static_cast<std::uint32_t>(std::clamp<std::uint64_t>(n, s.shape.holders, max_slots));
        } else if (name == "--rounds") {
            s.rounds = static_cast<std::uint32_t>(n);
        } else if (name == "--slice") {
            s.slice = static_cast<std::uint32_t>(n);
        } else {
            return usage(2);
        }
    }
    prefix_index index;
    const std::uint64_t prompts = fill(index, s);
    writer w(index, s.shape, prompts);
    const std::vector<std::size_t> cores = allowed_cores();
    std::printf("%u workers, %" PRIu64 " prompts of %u + %u blocks, %zu cores\n", s.shape.workers, prompts,
                s.shape.shared, s.shape.own, cores.size());
    for (const std::uint32_t readers : {1u, 2u}) {
        rounds r(s, index, w, prompts, readers, cores);
        r.run();
        r.print();
    }
    return 0;
}
