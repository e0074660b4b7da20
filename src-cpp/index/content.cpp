#include "index/content.hpp"

#include "base/common_prefix.hpp"

#include <algorithm>

namespace kvindex::index {

using storage::max_run;
using storage::root_run;
using storage::run_cold;
using storage::run_head;

namespace {

constexpr std::uint32_t per_granule = 8;

constexpr std::uint32_t granules_for(std::uint32_t blocks) {
    return (blocks + per_granule - 1) / per_granule;
}

/// Content below a run's length never changes, so the words may be written plainly as long as no reader knows
/// of them; they are published by the store of the length.
void write_words(std::uint64_t* to, std::span<const local_hash> locals) {
    for (std::size_t i = 0; i < locals.size(); i++) {
        std::atomic_ref<std::uint64_t>(to[i]).store(locals[i], std::memory_order_relaxed);
    }
}

} // namespace

laid_blocks content::lay(place after, std::span<const local_hash> locals, std::uint32_t domain, bool may_grow) {
    laid_blocks out;
    std::uint32_t run = after.run;
    std::uint32_t from = 0;
    if (run != root_run) {
        const std::uint32_t len = m_memory.heads[run].len.load(std::memory_order_relaxed);
        from = after.offset + 1;
        if (from < len && words_of(run)[from] == locals[0]) {
            const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(locals.size(), len - from));
            out.first = {run, from};
            out.count = static_cast<std::uint32_t>(common_prefix(words_of(run) + from, locals.data(), most));
            return out;
        }
    }
    // Most blocks have no child: then the table, and a cache miss, can be left alone.
    const bool childless = after.run != root_run && m_memory.colds[after.run].child_end <= after.offset;
    run = childless ? 0 : m_memory.children.find(after, locals[0]);
    if (run != 0) {
        const std::uint32_t len = m_memory.heads[run].len.load(std::memory_order_relaxed);
        const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(locals.size(), len));
        out.first = {run, 0};
        out.count = static_cast<std::uint32_t>(common_prefix(words_of(run), locals.data(), most));
        return out;
    }
    if (!may_grow) {
        return out;
    }
    out.fresh = true;
    if (after.run != root_run) {
        const run_head& h = m_memory.heads[after.run];
        const run_cold& c = m_memory.colds[after.run];
        const std::uint32_t len = h.len.load(std::memory_order_relaxed);
        // A run that few hold grows in place: a conversation stays one run. Where it was shortened, readers of
        // the old end must have gone first.
        if (from == len && len < max_run && c.domain == domain &&
            h.cover.load(std::memory_order_relaxed) == 0 &&
            (c.cut_at == 0 || m_memory.reclaim.is_past(c.cut_at))) {
            out.first = {after.run, len};
            out.count = append(after.run, locals);
            return out;
        }
    }
    out.first.run = make_run(after, locals, domain, out);
    return out;
}

/// A new run for the start of `locals`.
std::uint32_t content::make_run(place after, std::span<const local_hash> locals, std::uint32_t domain,
                                laid_blocks& out) {
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(locals.size(), max_run));
    const std::uint32_t granules = storage::granule_arena::rounded(granules_for(n));
    if (m_free_run == 0 && m_top == m_memory.heads.capacity()) {
        throw std::bad_alloc();
    }
    const std::uint32_t at = m_memory.content.take(granules);
    std::uint32_t run = m_free_run;
    if (run != 0) {
        m_free_run = m_memory.colds[run].first_child;
    } else {
        run = m_top++;
    }
    write_words(m_memory.content.words(at), locals.first(n));
    run_head& h = m_memory.heads[run];
    run_cold& c = m_memory.colds[run];
    h.first.store(locals[0], std::memory_order_relaxed);
    h.parent.store(after.run, std::memory_order_relaxed);
    h.parent_at.store(static_cast<std::uint16_t>(after.offset), std::memory_order_relaxed);
    h.content.store(at, std::memory_order_relaxed);
    h.cover.store(0, std::memory_order_relaxed);
    h.next.store(0, std::memory_order_relaxed);
    h.cold = granules * per_granule;
    for (auto& w : h.holders) {
        w.store(storage::holder::none, std::memory_order_relaxed);
    }
    // Release, like the child entry below: a look-up that finds this number sees all of the above.
    h.len.store(static_cast<std::uint16_t>(n), std::memory_order_release);
    c = run_cold{};
    c.domain = static_cast<std::uint16_t>(domain);
    c.live = true;
    try {
        m_memory.children.insert(after, locals[0], run);
    } catch (...) {
        m_memory.content.give_back(at, granules);
        c.live = false;
        give_number_back(run);
        throw;
    }
    if (after.run != root_run) {
        run_cold& p = m_memory.colds[after.run];
        c.next_sibling = p.first_child;
        if (p.first_child != 0) {
            m_memory.colds[p.first_child].previous_sibling = run;
        }
        p.first_child = run;
        p.children++;
        if (after.offset + 1 > p.child_end) {
            p.child_end = after.offset + 1;
            p.last_children = 0;
        }
        p.last_children += after.offset + 1 == p.child_end ? 1 : 0;
        review(after.run);
    }
    m_runs++;
    m_blocks += n;
    out.count = n;
    return run;
}

/// A longer array beside the old one; readers of the old one are not disturbed.
void content::resize(std::uint32_t run, std::uint32_t capacity) {
    run_head& h = m_memory.heads[run];
    const std::uint32_t granules = storage::granule_arena::rounded(granules_for(capacity));
    const std::uint32_t made = m_memory.content.take(granules);
    const std::uint32_t old = h.content.load(std::memory_order_relaxed);
    const std::uint32_t len = h.len.load(std::memory_order_relaxed);
    write_words(m_memory.content.words(made), {m_memory.content.words(old), len});
    // Release: pairs with the walk's acquire of the array.
    h.content.store(made, std::memory_order_release);
    m_memory.reclaim.retire(m_memory.content, old, h.cold / per_granule);
    h.cold = granules * per_granule;
}

std::uint32_t content::append(std::uint32_t run, std::span<const local_hash> locals) {
    run_head& h = m_memory.heads[run];
    const std::uint32_t len = h.len.load(std::memory_order_relaxed);
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(locals.size(), max_run - len));
    if (len + n > h.cold) {
        resize(run, std::max(len + n, std::min(max_run, len + len / 4)));
    }
    write_words(words_of(run) + len, locals.first(n));
    // Release: pairs with the walk's acquire of the length; content and array were stored before.
    h.len.store(static_cast<std::uint16_t>(len + n), std::memory_order_release);
    m_blocks += n;
    return n;
}

void content::enqueue(std::uint32_t run) {
    run_cold& c = m_memory.colds[run];
    if (c.queued) {
        return;
    }
    c.queued = true;
    m_memory.heads[run].next.store(0, std::memory_order_relaxed);
    if (m_last_dead == 0) {
        m_first_dead = run;
    } else {
        m_memory.heads[m_last_dead].next.store(run, std::memory_order_relaxed);
    }
    m_last_dead = run;
}

void content::review(std::uint32_t run) {
    run_cold& c = m_memory.colds[run];
    const std::uint32_t dead = m_memory.heads[run].len.load(std::memory_order_relaxed) - needed(c);
    m_dead += dead;
    m_dead -= c.dead;
    c.dead = dead;
    if (dead != 0) {
        enqueue(run);
    }
}

/// Finds the last block that a child hangs at, after the last child there went. Rare: children go in no order.
void content::find_child_end(std::uint32_t run) {
    run_cold& c = m_memory.colds[run];
    c.child_end = 0;
    c.last_children = 0;
    for (std::uint32_t child = c.first_child; child != 0; child = m_memory.colds[child].next_sibling) {
        const std::uint32_t end = m_memory.heads[child].parent_at.load(std::memory_order_relaxed) + 1u;
        if (end > c.child_end) {
            c.child_end = end;
            c.last_children = 0;
        }
        c.last_children += end == c.child_end ? 1 : 0;
    }
}

/// Asks for what the next runs of the queue need, each step for another one.
void content::look_ahead(std::uint32_t run) {
    const auto next = [&](std::uint32_t r) { return m_memory.heads[r].next.load(std::memory_order_relaxed); };
    m_names.prefetch_cut(run, needed(m_memory.colds[run]), 2);
    if ((run = next(run)) == 0) {
        return;
    }
    m_names.prefetch_cut(run, needed(m_memory.colds[run]), 1);
    if ((run = next(run)) == 0) {
        return;
    }
    m_names.prefetch_cut(run, needed(m_memory.colds[run]), 0);
    run = next(run);
    kvindex::prefetch_to_write(&m_memory.heads[run]);
    kvindex::prefetch_to_write(&m_memory.colds[run]);
}

std::uint64_t content::to_keep() const {
    return std::max(m_limits.ghost_floor, m_blocks / 100 * m_limits.ghost_percent);
}

void content::reap() {
    reap_to(to_keep());
}

void content::reap_to(std::uint64_t kept) {
    while (m_dead > kept && m_first_dead != 0) {
        const std::uint32_t run = m_first_dead;
        run_cold& c = m_memory.colds[run];
        m_first_dead = m_memory.heads[run].next.load(std::memory_order_relaxed);
        if (m_first_dead == 0) {
            m_last_dead = 0;
        } else {
            look_ahead(m_first_dead);
        }
        c.queued = false;
        if (c.dead == 0) {
            continue; // somebody took it again
        }
        const std::uint32_t end = needed(c);
        if (end == 0) {
            remove(run);
        } else {
            shorten(run, end);
        }
    }
}

void content::shorten(std::uint32_t run, std::uint32_t len) {
    run_head& h = m_memory.heads[run];
    run_cold& c = m_memory.colds[run];
    const std::uint32_t old = h.len.load(std::memory_order_relaxed);
    m_names.cut(run, len, old);
    // Readers that know the old end may still read behind the new one: nothing is written there before they
    // are gone (cut_at).
    h.len.store(static_cast<std::uint16_t>(len), std::memory_order_release);
    c.cut_at = m_memory.reclaim.now();
    m_blocks -= old - len;
    m_dead -= c.dead;
    c.dead = 0;
    if (granules_for(len) * 2 <= h.cold / per_granule) {
        resize(run, len);
    }
}

void content::remove(std::uint32_t run) {
    run_head& h = m_memory.heads[run];
    run_cold& c = m_memory.colds[run];
    const std::uint32_t len = h.len.load(std::memory_order_relaxed);
    const place parent{h.parent.load(std::memory_order_relaxed), h.parent_at.load(std::memory_order_relaxed)};
    m_memory.children.erase(parent, h.first.load(std::memory_order_relaxed), run);
    m_names.cut(run, 0, len);
    if (parent.run != root_run) {
        run_cold& p = m_memory.colds[parent.run];
        (c.previous_sibling != 0 ? m_memory.colds[c.previous_sibling].next_sibling : p.first_child) =
            c.next_sibling;
        if (c.next_sibling != 0) {
            m_memory.colds[c.next_sibling].previous_sibling = c.previous_sibling;
        }
        p.children--;
        if (p.child_end == parent.offset + 1 && --p.last_children == 0) {
            find_child_end(parent.run);
        }
        review(parent.run);
    }
    m_holders.release(run);
    m_memory.reclaim.retire(m_memory.content, h.content.load(std::memory_order_relaxed), h.cold / per_granule);
    m_memory.reclaim.retire_run(run);
    m_runs--;
    m_blocks -= len;
    m_dead -= c.dead;
    c.dead = 0;
    c.live = false;
}

} // namespace kvindex::index
