/// Several look-ups at once, and the best slots by cost.
#include "facade/state.hpp"

#include <algorithm>

namespace kvindex {
namespace {

/// Look-ups under one pin: long enough to overlap, short enough not to hold up reclamation.
constexpr std::size_t group = 64;

/// The same for best(), whose rows lie in scratch memory.
constexpr std::size_t best_group = 16;

/// One thread's look-ups, and rows and costs for best().
struct scratch {
    std::array<index::look_up, group> asked;
    std::vector<std::uint32_t> depths;
    std::vector<double> costs;
    std::array<looked, best_group> how;
};

scratch& my_scratch() {
    static thread_local scratch mine;
    return mine;
}

} // namespace

void prefix_index::match_batch(std::span<const query> queries, std::uint32_t tiers, std::uint32_t* depth,
                               std::uint32_t stride, std::span<looked> how) const {
    const std::uint32_t made = m_state->cores_made.load(std::memory_order_acquire);
    std::fill(how.begin(), how.end(), looked{});
    std::array<index::look_up, group>& asked = my_scratch().asked;
    for (std::size_t first = 0; first < queries.size(); first += group) {
        const std::size_t n = std::min(group, queries.size() - first);
        for (std::uint32_t i = 0; i < made && i * slots_per_core < stride; i++) {
            const index::reader_view& view = m_state->cores[i]->view();
            const sync::epoch_domain<>::pin pin(view.epochs());
            const std::uint32_t columns = std::min(stride - i * slots_per_core, slots_per_core);
            bool flat;
            do { // twice when the first block goes to a lower tier meanwhile, see reader_view::tiered()
                flat = tiers == 1 || !view.tiered();
                for (std::size_t q = 0; q < n; q++) {
                    const query& one = queries[first + q];
                    std::uint32_t* rows = depth + (first + q) * tiers * stride + i * slots_per_core;
                    asked[q] = {.name_space = one.name_space,
                                .count = static_cast<std::uint32_t>(one.locals.size()),
                                .locals = one.locals.data(),
                                .out = {rows, stride, columns, flat ? 1 : tier_count},
                                .budget = one.budget != 0 ? one.budget : m_state->made_with.query_budget};
                }
                view.walk(std::span(asked).first(n));
            } while (flat && tiers > 1 && view.tiered());
            const std::uint32_t slots = std::min((view.shown() + 63) / 64 * 64, columns);
            for (std::size_t q = 0; q < n; q++) {
                for (std::uint32_t t = 1; flat && t < tiers; t++) {
                    std::copy_n(asked[q].out.depth, slots, asked[q].out.depth + t * stride);
                }
                if (!how.empty()) {
                    how[first + q].cut_short |= asked[q].cut_short ? 1u : 0u;
                    how[first + q].steps += asked[q].steps;
                }
            }
        }
    }
}

void prefix_index::best(std::span<const query> queries, std::span<const cost_terms> terms,
                        std::span<const double> prefill, std::span<const double> base, std::uint32_t k,
                        choice* out, best_found* found) const {
    const std::uint32_t bound = std::min(slot_bound(), static_cast<std::uint32_t>(base.size()));
    scratch& mine = my_scratch();
    const std::size_t rows = std::min(queries.size(), best_group) * tier_count * bound;
    if (mine.depths.size() < rows) {
        mine.depths.resize(rows);
    }
    if (mine.costs.size() < bound) {
        mine.costs.resize(bound);
    }
    for (std::size_t first = 0; first < queries.size(); first += best_group) {
        const std::size_t n = std::min(best_group, queries.size() - first);
        match_batch(queries.subspan(first, n), tier_count, mine.depths.data(), bound,
                    std::span(mine.how).first(n));
        for (std::size_t q = 0; q < n; q++) {
            const std::uint32_t* depths = mine.depths.data() + q * tier_count * bound;
            costs_of(terms[first + q], depths, bound, prefill.data(), base.data(), bound, mine.costs.data());
            for (std::uint32_t w = 0; w < bound / 64; w++) { // slots that are not open never take part
                const index::reader_view& view = m_state->cores[w / storage::slot_words]->view();
                std::uint64_t closed = ~view.visible(w % storage::slot_words);
                for (; closed != 0; closed &= closed - 1) {
                    mine.costs[w * 64 + static_cast<std::uint32_t>(std::countr_zero(closed))] = not_eligible;
                }
            }
            choice* choices = out + (first + q) * k;
            const least chosen = choose(mine.costs.data(), bound, k, choices);
            for (std::uint32_t i = 0; i < chosen.count; i++) {
                for (std::uint32_t t = 0; t < tier_count; t++) {
                    choices[i].depth[t] = depths[t * bound + choices[i].slot];
                }
            }
            found[first + q] = {.count = chosen.count, .ties = chosen.ties, .how = mine.how[q]};
        }
    }
}

} // namespace kvindex
