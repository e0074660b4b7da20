#include "clock.hpp"
#include "modes.hpp"

#include <algorithm>
#include <cstdio>
#include <random>

namespace kvindex::replay {

namespace {

using query = std::span<const std::uint64_t>;

constexpr std::size_t passed_queries = 20000; ///< of each query pass, at most
constexpr std::uint64_t hot_blocks = 384;

struct span_of_time {
    double wall = wall_seconds();
    double cpu = cpu_seconds();

    span_of_time until_now() const {
        return {wall_seconds() - wall, cpu_seconds() - cpu};
    }
};

/// Nanoseconds of a query.
struct latency {
    double mean; ///< CPU time of a pass without clock reads
    double p50;
    double p99;
};

double per(double amount, double unit) {
    return unit > 0 ? amount / unit : 0;
}

span_of_time mixed_pass(const replay_input& in) {
    fresh_subject index(in);
    const span_of_time begin;
    for (const step& s : in.load.steps()) {
        if (s.is_query && in.how.inflight) {
            for (std::uint64_t i = 0; i < s.count; i += most_in_flight) {
                index.ask_together(
                    std::span(in.load.queries())
                        .subspan(s.first + i, std::min<std::uint64_t>(most_in_flight, s.count - i)));
            }
        } else if (s.is_query) {
            index.ask(in.load.queries()[s.first]);
        } else {
            apply_events(index, in, s.first, s.count);
        }
    }
    return begin.until_now();
}

/// Look-ups in calls of most_in_flight; p50 and p99 are of calls, by the number of their look-ups.
latency inflight_pass(subject& index, std::span<const query> queries, double nanos_of_tick) {
    const auto part = [&](std::size_t i) {
        return queries.subspan(i, std::min(most_in_flight, queries.size() - i));
    };
    const double begin = cpu_seconds();
    for (std::size_t i = 0; i < queries.size(); i += most_in_flight) {
        index.ask_together(part(i));
    }
    const double mean = (cpu_seconds() - begin) * 1e9 / static_cast<double>(queries.size());
    std::vector<double> each;
    for (std::size_t i = 0; i < queries.size(); i += most_in_flight) {
        const std::uint64_t first = ticks();
        index.ask_together(part(i));
        each.push_back(static_cast<double>(ticks() - first) / static_cast<double>(part(i).size()));
    }
    std::sort(each.begin(), each.end());
    return {mean, each[(each.size() - 1) / 2] * nanos_of_tick,
            each[(each.size() - 1) * 99 / 100] * nanos_of_tick};
}

latency query_pass(const replay_input& in, subject& index, const std::vector<query>& queries,
                   double nanos_of_tick) {
    if (in.how.inflight) {
        return inflight_pass(index, queries, nanos_of_tick);
    }
    const double begin = cpu_seconds();
    for (const query& q : queries) {
        index.ask(q);
    }
    const double mean = (cpu_seconds() - begin) * 1e9 / static_cast<double>(queries.size());
    std::vector<std::uint64_t> each;
    each.reserve(queries.size());
    for (const query& q : queries) {
        const std::uint64_t first = ticks();
        index.ask(q);
        each.push_back(ticks() - first);
    }
    std::sort(each.begin(), each.end());
    const auto at = [&](std::size_t percent) {
        return static_cast<double>(each[(each.size() - 1) * percent / 100]) * nanos_of_tick;
    };
    return {mean, at(50), at(99)};
}

/// The same order in every run and for every variant.
std::vector<query> shuffled(std::vector<query> queries) {
    std::mt19937_64 random(5);
    for (std::size_t i = queries.size() - 1; i > 0; i--) {
        std::swap(queries[i], queries[random() % (i + 1)]);
    }
    return queries;
}

query nearest_to(const std::vector<query>& queries, std::uint64_t blocks) {
    const auto distance = [&](const query& q) {
        return std::max(q.size(), blocks) - std::min(q.size(), blocks);
    };
    return *std::min_element(queries.begin(), queries.end(),
                             [&](const query& a, const query& b) { return distance(a) < distance(b); });
}

} // namespace

void time_mode(const replay_input& in) {
    const std::vector<query>& all = in.load.queries();
    if (all.empty()) {
        throw replay_error("the op-log has no query to time");
    }
    const span_of_time mixed = mixed_pass(in);

    fresh_subject index(in);
    const span_of_time begin;
    apply_events(index, in, 0, in.load.event_count());
    const span_of_time events = begin.until_now();

    const auto last = static_cast<std::ptrdiff_t>(std::min(passed_queries, all.size()));
    const std::vector<query> in_order(all.end() - last, all.end());
    const double nanos = tick_nanos();
    query_pass(in, index, in_order, nanos); // the events left the caches to themselves
    const latency ordered = query_pass(in, index, in_order, nanos);
    const latency mixed_up = query_pass(in, index, shuffled(in_order), nanos);
    const latency hot =
        query_pass(in, index, std::vector<query>(passed_queries, nearest_to(in_order, hot_blocks)), nanos);

    const oplog_header& h = in.log.header();
    const auto event_blocks = static_cast<double>(h.stored_blocks + h.removed_blocks);
    const double blocks = event_blocks + static_cast<double>(h.query_blocks);
    std::printf("{\"impl\":\"%s\",\"mode\":\"time\",\"mixed_mops\":%.3f,\"mixed_cpu_mops\":%.3f,"
                "\"events_mblk\":%.3f,\"events_cpu_mblk\":%.3f,\"ns_event\":%.1f,"
                "\"q_mean\":%.0f,\"q_p50\":%.0f,\"q_p99\":%.0f,\"s_mean\":%.0f,\"s_p50\":%.0f,\"s_p99\":%.0f,"
                "\"hot\":%.0f}\n",
                in.how.name.c_str(), per(blocks, mixed.wall) / 1e6, per(blocks, mixed.cpu) / 1e6,
                per(event_blocks, events.wall) / 1e6, per(event_blocks, events.cpu) / 1e6,
                per(events.wall * 1e9, static_cast<double>(in.load.event_count())), ordered.mean, ordered.p50,
                ordered.p99, mixed_up.mean, mixed_up.p50, mixed_up.p99, hot.mean);
}

} // namespace kvindex::replay
