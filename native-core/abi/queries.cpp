/// The C ABI of batches and of the best slots by cost: every input is looked at before anything is written.
#include "abi/guard.hpp"

#include <array>
#include <vector>

namespace {

using kvindex::abi::guarded;
using kvindex::abi::readable;

// Answers are written through the index's own types straight into the caller's arrays.
static_assert(sizeof(kvindex::looked) == sizeof(kvi_looked) && alignof(kvindex::looked) == alignof(kvi_looked));
static_assert(offsetof(kvindex::looked, steps) == offsetof(kvi_looked, steps));
static_assert(sizeof(kvindex::choice) == sizeof(kvi_choice) && alignof(kvindex::choice) == alignof(kvi_choice));
static_assert(offsetof(kvindex::choice, slot) == offsetof(kvi_choice, slot) &&
              offsetof(kvindex::choice, depth) == offsetof(kvi_choice, depth) &&
              offsetof(kvindex::choice, reserved) == offsetof(kvi_choice, reserved));
static_assert(sizeof(kvindex::best_found) == sizeof(kvi_best_found) &&
              alignof(kvindex::best_found) == alignof(kvi_best_found));
static_assert(offsetof(kvindex::best_found, ties) == offsetof(kvi_best_found, ties) &&
              offsetof(kvindex::best_found, how) == offsetof(kvi_best_found, how));

bool good_queries(const kvi_query* queries, std::uint32_t n, const std::uint64_t* locals,
                  std::uint64_t local_count) {
    if (n == 0 || n > KVI_MAX_QUERIES || !readable(queries, n) || !readable(locals, local_count)) {
        return false;
    }
    bool good = true;
    for (std::uint32_t i = 0; i < n; i++) {
        const kvi_query& q = queries[i];
        good = good && q.count <= KVI_MAX_BLOCKS && q.name_space < KVI_MAX_NAME_SPACES && q.reserved == 0 &&
               q.offset <= local_count && q.count <= local_count - q.offset;
    }
    return good;
}

kvindex::cost_terms terms_of(const kvi_cost& c) {
    return {.credit = {c.credit[0], c.credit[1], c.credit[2], c.credit[3]},
            .pool_credit = c.pool_credit,
            .prompt = c.prompt,
            .block = c.block,
            .unit = c.unit,
            .weight = c.weight,
            .added = c.added,
            .most_cached = c.most_cached,
            .pool = c.pool};
}

/// One call's questions in the index's terms; kept by the thread, so that calls allocate nothing.
struct questions {
    std::vector<kvindex::query> queries;
    std::vector<kvindex::cost_terms> terms;
};

questions& my_questions() {
    static thread_local questions mine;
    return mine;
}

std::span<const kvindex::query> translate(const kvi_query* queries, std::uint32_t n,
                                          const std::uint64_t* locals) {
    std::vector<kvindex::query>& out = my_questions().queries;
    out.clear();
    for (std::uint32_t i = 0; i < n; i++) {
        const kvi_query& q = queries[i];
        out.push_back({.locals = {q.count == 0 ? nullptr : locals + q.offset, q.count},
                       .name_space = static_cast<std::uint16_t>(q.name_space),
                       .budget = q.budget});
    }
    return out;
}

} // namespace

extern "C" {

std::int32_t kvi_match_batch(const kvi_index* index, const kvi_query* queries, std::uint32_t query_count,
                             const std::uint64_t* locals, std::uint64_t local_count, std::uint32_t tiers,
                             std::uint32_t* out_depths, std::uint32_t stride, kvi_looked* out_looked) {
    if (index == nullptr || !good_queries(queries, query_count, locals, local_count) ||
        (tiers != 1 && tiers != KVI_TIERS) || stride % 64 != 0 || !readable(out_depths, stride) ||
        !readable(out_looked, out_looked != nullptr)) {
        return KVI_E_ARGUMENT;
    }
    if (stride < index->impl.slot_bound()) {
        return KVI_E_CAPACITY;
    }
    return guarded([&] {
        const std::span<kvindex::looked> how(reinterpret_cast<kvindex::looked*>(out_looked),
                                             out_looked == nullptr ? 0 : query_count);
        index->impl.match_batch(translate(queries, query_count, locals), tiers, out_depths, stride, how);
        return KVI_OK;
    });
}

std::int32_t kvi_best(const kvi_index* index, const kvi_query* queries, std::uint32_t query_count,
                      const std::uint64_t* locals, std::uint64_t local_count, const kvi_cost* costs,
                      const double* prefill, const double* base, std::uint32_t stride, std::uint32_t k,
                      kvi_choice* out_choices, kvi_best_found* out_found) {
    if (index == nullptr || !good_queries(queries, query_count, locals, local_count) ||
        !readable(costs, query_count) || stride % 64 != 0 || stride > KVI_MAX_SLOTS ||
        !readable(prefill, stride) || !readable(base, stride) || k == 0 || k > KVI_MAX_SLOTS ||
        !readable(out_choices, k) || !readable(out_found, query_count)) {
        return KVI_E_ARGUMENT;
    }
    for (std::uint32_t i = 0; i < query_count; i++) {
        if (!kvindex::usable(terms_of(costs[i]))) {
            return KVI_E_ARGUMENT;
        }
    }
    if (!kvindex::usable(prefill, stride, false) || !kvindex::usable(base, stride, true)) {
        return KVI_E_ARGUMENT;
    }
    if (stride < index->impl.slot_bound()) {
        return KVI_E_CAPACITY;
    }
    return guarded([&] {
        std::vector<kvindex::cost_terms>& terms = my_questions().terms;
        terms.clear();
        for (std::uint32_t i = 0; i < query_count; i++) {
            terms.push_back(terms_of(costs[i]));
        }
        index->impl.best(translate(queries, query_count, locals), terms, {prefill, stride}, {base, stride}, k,
                         reinterpret_cast<kvindex::choice*>(out_choices),
                         reinterpret_cast<kvindex::best_found*>(out_found));
        return KVI_OK;
    });
}

} // extern "C"
