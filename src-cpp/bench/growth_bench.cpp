/// Cost as the fleet and the index grow. See usage() for the arguments, RESULTS.md for the figures.
///
/// Each cell runs in a process of its own, so that none inherits another's heap. The prompts have the shape of
/// the micro benchmark (64 shared and 320 own blocks). How many workers hold a prompt grows with the fleet: 2
/// of up to 100 workers, 4 of up to 1,000, 8 beyond; they lie far apart, so that a fleet of more than 1,024 has
/// the prompt in several index cores. So blocks (distinct in each core) and residencies differ, and both are
/// said.
#include "growth_cell.hpp"
#include "memory_table.hpp"
#include "storage/region.hpp"

#include <cinttypes>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace kvindex;
using namespace kvindex::bench;

struct arguments {
    std::vector<std::uint64_t> workers{10, 100, 1'000, 10'000};
    std::vector<std::uint64_t> residencies{1'000'000, 10'000'000};
    growth_request request;
    std::uint32_t holders = 0; ///< 0 = by the fleet
    std::string json;
    std::uint64_t warm = 0; ///< bytes
    bool memory = false;
};

int usage(int code) {
    std::fprintf(
        code == 0 ? stdout : stderr,
        "usage: growth_bench [OPTION]...\n"
        "  --workers LIST       of the cells; default 10,100,1000,10000\n"
        "  --residencies LIST   (worker, block) pairs to grow to; default 1M,10M\n"
        "  --shared N, --own N  blocks of the system prompt, and of each prompt behind it; default 64, 320\n"
        "  --holders N          of each prompt; default 2, 4 or 8 by the fleet\n"
        "  --samples N          look-ups of each kind, five times the prompts of the churn; default 20000\n"
        "  --json FILE          appends a line of JSON for each cell\n"
        "  --warm N             touches and frees N bytes before each cell: a virtual machine that has not had "
        "its\n"
        "                       memory yet pays some ms for each huge page, once; e.g. 6000M\n"
        "  --slow               tells of the slowest steps: time, page faults, size of the index then\n"
        "  --memory             tells where the bytes of each cell go\n"
        "  --smoke              one tiny cell: it runs and its answers are right\n"
        "One cell: growth_bench --workers 100 --residencies 10M. The whole table: --residencies 1M,10M,100M (4 "
        "GB).\n"
        "Times: thread CPU time, page faults included, but for look-ups; own: met no page fault.\n");
    return code;
}

bool read_list(const char* text, std::vector<std::uint64_t>& to) {
    to.clear();
    while (*text != '\0') {
        char* end = nullptr;
        std::uint64_t n = std::strtoull(text, &end, 10);
        if (end == text || n == 0) {
            return false;
        }
        if (*end == 'M' || *end == 'k') {
            n *= *end == 'M' ? 1'000'000 : 1'000;
            end++;
        }
        if (*end != ',' && *end != '\0') {
            return false;
        }
        to.push_back(n);
        text = *end == ',' ? end + 1 : end;
    }
    return !to.empty();
}

/// 0 = go on; else the exit code + 1.
int read_arguments(int argc, char** argv, arguments& a) {
    for (int i = 1; i < argc; i++) {
        const std::string_view name = argv[i];
        if (name == "--help") {
            return usage(0) + 1;
        }
        if (name == "--smoke") {
            a.workers = {5};
            a.residencies = {20'000};
            a.request.samples = 50;
        } else if (name == "--slow") {
            a.request.slow_steps = true;
        } else if (name == "--memory") {
            a.memory = true;
        } else if (i + 1 == argc) {
            return usage(2) + 1;
        } else if (name == "--json") {
            a.json = argv[++i];
        } else {
            std::vector<std::uint64_t> list;
            if (!read_list(argv[++i], list)) {
                return usage(2) + 1;
            }
            const auto one = static_cast<std::uint32_t>(list[0]);
            if (name == "--workers") {
                a.workers = list;
            } else if (name == "--residencies") {
                a.residencies = list;
            } else if (name == "--shared") {
                a.request.shape.shared = one;
            } else if (name == "--own") {
                a.request.shape.own = one;
            } else if (name == "--holders") {
                a.holders = one;
            } else if (name == "--samples") {
                a.request.samples = one;
            } else if (name == "--warm") {
                a.warm = list[0];
            } else {
                return usage(2) + 1;
            }
        }
    }
    return 0;
}

std::uint32_t usual_holders(std::uint64_t workers) {
    return workers <= 1 ? 1 : workers <= 100 ? 2 : workers <= 1000 ? 4 : 8;
}

void print_head() {
    std::printf(
        "%7s %8s %8s %3s | %6s %6s | %6s %6s | %11s | %11s | %6s | %6s %6s | %20s | %20s | %20s | %20s\n",
        "workers", "resid. M", "blocks M", "by", "new", "known", "decode", "alone", "hot 50/99", "cold 50/99",
        "churn", "B/res", "MB", "1 block 99.9/own/max", "prompt 99.9/own/max", "churn 99.9/own/max",
        "orphan 99.9/own/max");
    std::printf("%7s %8s %8s %3s | %13s | %13s | %11s | %11s | %6s | %6s %6s | %20s | %20s | %20s | %20s\n", "",
                "", "", "", "ns/block", "ns/event", "ns/query", "ns/query", "ns/blk", "", "", "us", "us", "us",
                "us");
}

void print_row(const growth_request& q, const growth_result& r) {
    const auto millions = [](std::uint64_t n) { return static_cast<double>(n) / 1e6; };
    std::printf("%7u %8.2f %8.2f %3u | %6.1f %6.1f | %6.0f %6.0f | %5u %5u | %5u %5u | %6.1f | %6.1f %6.0f",
                q.shape.workers, millions(r.residencies), millions(r.blocks), q.shape.holders, r.store_new,
                r.store_known, r.decode, r.decode_alone, r.hot_p50, r.hot_p99, r.cold_p50, r.cold_p99, r.churn,
                static_cast<double>(r.bytes) / static_cast<double>(r.residencies), millions(r.resident));
    for (const step_times* s : {&r.one_block, &r.prompt, &r.churned, &r.waiting}) {
        std::printf(" | %6.1f %5.0f %6.0f", s->cpu_p999 / 1e3, s->cpu_own_max / 1e3, s->cpu_max / 1e3);
    }
    std::printf("\n");
}

void write_json(const std::string& path, const growth_request& q, const growth_result& r) {
    std::FILE* const f = std::fopen(path.c_str(), "a");
    require(f != nullptr, "the file for JSON cannot be opened");
    std::fprintf(
        f,
        "{\"workers\":%u,\"shared\":%u,\"own\":%u,\"holders\":%u,\"residencies\":%" PRIu64
        ",\"blocks\":%" PRIu64 ",\"runs\":%" PRIu64
        ",\"store_new_ns\":%.2f,\"store_known_ns\":%.2f,\"decode_ns\":%.1f,\"decode_alone_ns\":%.1f,"
        "\"churn_ns\":%.2f,\"hot_p50\":%u,\"hot_p99\":%u,\"cold_p50\":%u,\"cold_p99\":%u,\"bytes\":%" PRIu64
        ",\"resident\":%" PRIu64,
        q.shape.workers, q.shape.shared, q.shape.own, q.shape.holders, r.residencies, r.blocks, r.runs,
        r.store_new, r.store_known, r.decode, r.decode_alone, r.churn, r.hot_p50, r.hot_p99, r.cold_p50,
        r.cold_p99, r.bytes, r.resident);
    const auto steps = [&](const char* name, const step_times& s) {
        std::fprintf(f,
                     ",\"%s\":{\"count\":%" PRIu64
                     ",\"cpu_p50\":%u,\"cpu_p999\":%u,\"cpu_max\":%u,\"cpu_own_max\":%u,\"wall_p50\":%u,"
                     "\"wall_p999\":%u,\"wall_max\":%u}",
                     name, s.count, s.cpu_p50, s.cpu_p999, s.cpu_max, s.cpu_own_max, s.wall_p50, s.wall_p999,
                     s.wall_max);
    };
    steps("one_block", r.one_block);
    steps("prompt", r.prompt);
    steps("churned", r.churned);
    steps("waiting", r.waiting);
    std::fprintf(f, "}\n");
    require(std::fclose(f) == 0, "the JSON could not be written");
}

/// In this process.
void run_cell(const arguments& a, const growth_request& q) {
    std::fprintf(stderr, "%u workers, %" PRIu64 " residencies\n", q.shape.workers, q.residencies);
    const growth_result r = grow(q);
    print_row(q, r);
    if (a.memory) {
        print_memory(r.memory);
    }
    if (!a.json.empty()) {
        write_json(a.json, q, r);
    }
    std::fflush(stdout);
}

/// Runs `body` in a process of its own, so that it leaves nothing behind.
template <typename F>
void in_child(F&& body) {
    std::fflush(stdout);
    const pid_t child = fork();
    require(child >= 0, "no process for the cell");
    if (child == 0) {
        body();
        std::exit(0);
    }
    int status = 0;
    require(waitpid(child, &status, 0) == child && status == 0, "a cell failed");
}

/// As the index does it: huge pages where the system gives them.
void touch(std::uint64_t bytes) {
    storage::region<std::byte> memory(bytes);
    for (std::uint64_t i = 0; i < bytes; i += 4096) {
        memory[i] = std::byte{1};
    }
}

} // namespace

int main(int argc, char** argv) {
    arguments a;
    if (const int code = read_arguments(argc, argv, a); code != 0) {
        return code - 1;
    }
    print_head();
    for (const std::uint64_t workers : a.workers) {
        for (const std::uint64_t residencies : a.residencies) {
            growth_request q = a.request;
            q.shape.workers = static_cast<std::uint32_t>(workers);
            q.shape.holders = a.holders != 0 ? a.holders : usual_holders(workers);
            q.residencies = residencies;
            if (workers > max_slots || q.shape.holders > workers) {
                return usage(2);
            }
            if (a.warm != 0) {
                in_child([&] { touch(a.warm); });
            }
            in_child([&] { run_cell(a, q); });
        }
    }
    return 0;
}
