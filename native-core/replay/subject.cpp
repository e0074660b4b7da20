#include "subject.hpp"

#include "replay_error.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace kvindex::replay {

namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

void require_ok(std::int32_t status, const char* call) {
    if (status != KVI_OK) [[unlikely]] {
        throw replay_error(std::string(call) + " failed: " + kvi_status_text(status));
    }
}

void require_same_abi() {
    std::uint32_t version = 0;
    require_ok(kvi_abi_version(&version), "kvi_abi_version");
    if (version != KVI_ABI_VERSION) {
        throw replay_error("the loaded libkvindex has ABI " + std::to_string(version) +
                           ", this program was built for " + std::to_string(KVI_ABI_VERSION));
    }
}

} // namespace

subject::subject(std::uint32_t workers, query_form form) : m_form(form), m_hits(workers) {
    require_same_abi();
    kvi_index* opened = nullptr;
    require_ok(kvi_open(nullptr, &opened), "kvi_open");
    m_index.reset(opened);
    for (std::uint32_t worker = 0; worker < workers; worker++) {
        std::uint32_t slot = 0;
        require_ok(kvi_slot_open(m_index.get(), 0, 0, &slot), "kvi_slot_open");
        m_slots.push_back(slot);
        if (slot >= m_worker_of.size()) {
            m_worker_of.resize(slot + 1, nobody);
        }
        m_worker_of[slot] = worker;
    }
    m_stride = static_cast<std::uint32_t>((m_worker_of.size() + 63) / 64 * 64);
    m_dense.resize(m_stride / 16);
}

void subject::apply(std::span<const std::uint64_t> events) {
    kvi_applied now{};
    require_ok(kvi_apply(m_index.get(), events.data(), events.size_bytes(), &now), "kvi_apply");
    if (now.malformed != 0 || now.ignored != 0) [[unlikely]] {
        throw replay_error("kvi_apply found " + std::to_string(now.malformed) + " malformed and ignored " +
                           std::to_string(now.ignored) + " events of a valid op-log");
    }
    m_applied.applied += now.applied;
    m_applied.orphans += now.orphans;
    m_applied.unknown_removed += now.unknown_removed;
}

void subject::ask(std::span<const std::uint64_t> locals) {
    const auto count = static_cast<std::uint32_t>(locals.size());
    if (m_form == query_form::dense) {
        require_ok(kvi_match_dense(m_index.get(), 0, locals.data(), count, 1, m_dense.front().depths, m_stride),
                   "kvi_match_dense");
        return;
    }
    require_ok(kvi_match_locals(m_index.get(), 0, locals.data(), count, m_hits.data(),
                                static_cast<std::uint32_t>(m_hits.size()), &m_hit_count),
               "kvi_match_locals");
}

void subject::ask_together(std::span<const std::span<const std::uint64_t>> queries) {
    m_together.clear();
    const std::uint64_t* begin = queries.front().data();
    const std::uint64_t* end = begin;
    for (const std::span<const std::uint64_t> q : queries) {
        begin = std::min(begin, q.data());
        end = std::max(end, q.data() + q.size());
    }
    for (const std::span<const std::uint64_t> q : queries) {
        m_together.push_back({.offset = static_cast<std::uint64_t>(q.data() - begin),
                              .count = static_cast<std::uint32_t>(q.size()),
                              .name_space = 0,
                              .budget = 0,
                              .reserved = 0});
    }
    if (const std::size_t lines = queries.size() * m_stride / 16; m_dense.size() < lines) {
        cache_line spoiled;
        std::memset(&spoiled, 0xFF, sizeof spoiled);
        m_dense.resize(lines, spoiled);
    }
    m_looked.resize(queries.size());
    require_ok(kvi_match_batch(m_index.get(), m_together.data(), static_cast<std::uint32_t>(m_together.size()),
                               begin, static_cast<std::uint64_t>(end - begin), 1, m_dense.front().depths,
                               m_stride, m_looked.data()),
               "kvi_match_batch");
    for (const kvi_looked& how : m_looked) {
        m_most_steps = std::max(m_most_steps, how.steps);
        m_cut_short += how.cut_short;
    }
}

void subject::spoil_answer() {
    std::memset(m_dense.data(), 0xFF, m_dense.size() * sizeof(cache_line));
    std::memset(m_hits.data(), 0xFF, m_hits.size() * sizeof(kvi_hit));
    m_hit_count = nobody;
}

std::uint32_t subject::read_answer(std::span<std::uint32_t> by_worker) const {
    std::fill(by_worker.begin(), by_worker.end(), 0);
    std::uint32_t strangers = 0;
    const auto give = [&](std::uint32_t slot, std::uint32_t depth) {
        const std::uint32_t worker = slot < m_worker_of.size() ? m_worker_of[slot] : nobody;
        if (worker != nobody) {
            by_worker[worker] = depth;
        } else if (depth != 0) {
            strangers++;
        }
    };
    // Every event of an op-log is of the first tier.
    if (m_form == query_form::dense) {
        for (std::uint32_t slot = 0; slot < m_stride; slot++) {
            give(slot, dense_depths()[slot]);
        }
        return strangers;
    }
    if (m_hit_count > m_hits.size()) {
        throw replay_error(
            "kvi_match_locals counts more hits than there is room for, or did not write the count");
    }
    for (std::uint32_t i = 0; i < m_hit_count; i++) {
        give(m_hits[i].slot, m_hits[i].depth[0]);
    }
    return strangers;
}

kvi_statistics subject::stats() const {
    kvi_statistics out{};
    require_ok(kvi_stats(m_index.get(), &out), "kvi_stats");
    return out;
}

} // namespace kvindex::replay
