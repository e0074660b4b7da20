#include "index/orphan_store.hpp"

namespace kvindex::index {

orphan_store::orphan_store(memory_account& account, std::uint64_t limit)
    : m_account(account), m_limit(limit), m_by_age(tracked_allocator<orphan>(account)), m_named(account),
      m_waiting(account), m_of_slot(max_slots, 0, tracked_allocator<std::uint32_t>(account)) {
}

orphan_store::key orphan_store::block_key(const orphan_block& b) {
    return {b.owner->slot, static_cast<std::uint32_t>(b.owner->where), b.name};
}

orphan_store::key orphan_store::parent_key(const orphan& o) {
    return {o.slot, 0, o.parent};
}

void orphan_store::park(const stored_event& e) {
    if (e.names.size() > m_limit) {
        // Keeping it would push out everything older and then itself.
        m_given_up += e.names.size();
        while (!m_by_age.empty()) {
            give_up_oldest();
        }
        return;
    }
    std::list<orphan, tracked_allocator<orphan>> made(m_by_age.get_allocator());
    orphan& o = made.emplace_back(m_account);
    o.blocks.resize(e.names.size());
    o.locals.assign(e.locals.begin(), e.locals.end());
    o.self = made.begin();
    o.slot = e.slot;
    o.where = e.where;
    o.parent = e.parent;
    o.waiting = e.names.size();
    std::size_t linked = 0;
    try {
        m_waiting.reserve(parent_key(o));
        for (; linked < e.names.size(); linked++) {
            orphan_block& b = o.blocks[linked];
            b.name = e.names[linked];
            b.owner = &o;
            m_named.reserve(block_key(b));
            link(b);
        }
    } catch (const std::bad_alloc&) {
        while (linked != 0) {
            unlink(o.blocks[--linked]);
        }
        throw;
    }
    m_by_age.splice(m_by_age.end(), made);
    join_siblings(o);
    m_blocks += o.waiting;
    m_of_slot[number_of(o.slot)]++;
    while (m_blocks > m_limit) {
        give_up_oldest();
    }
}

void orphan_store::give_up_oldest() noexcept {
    m_given_up += m_by_age.front().waiting;
    drop(m_by_age.front());
}

void orphan_store::give_up_all() noexcept {
    while (!m_by_age.empty() && m_first_ready == nullptr) {
        give_up_oldest();
    }
}

bool orphan_store::strike(slot_id slot, tier where, engine_hash name) noexcept {
    auto* chain = m_named.find(key{slot, static_cast<std::uint32_t>(where), name});
    if (chain == nullptr) {
        return false;
    }
    for (orphan_block* b = chain->first; b != nullptr;) {
        orphan_block* following = b->next;
        orphan& o = *b->owner;
        unlink(*b);
        b->struck = true;
        m_blocks--;
        if (--o.waiting == 0) {
            drop(o); // nothing of it can ever be stored
        }
        b = following;
    }
    return true;
}

void orphan_store::wake(slot_id slot, engine_hash name) noexcept {
    const auto* chain = m_waiting.find(key{slot, 0, name});
    for (orphan* o = chain == nullptr ? nullptr : chain->first; o != nullptr; o = o->next_sibling) {
        if (!o->ready) {
            o->ready = true;
            o->next_ready = nullptr;
            (m_first_ready == nullptr ? m_first_ready : m_last_ready->next_ready) = o;
            m_last_ready = o;
        }
    }
}

void orphan_store::settle() noexcept {
    orphan& o = *m_first_ready;
    pop_ready();
    drop(o);
}

void orphan_store::postpone() noexcept {
    pop_ready();
}

void orphan_store::clear(slot_id slot, tier_mask tiers) noexcept {
    for (auto o = m_by_age.begin(); m_of_slot[number_of(slot)] != 0 && o != m_by_age.end();) {
        orphan& candidate = *o++;
        if (candidate.slot == slot && (tiers & mask_of(candidate.where)) != 0) {
            drop(candidate);
        }
    }
}

void orphan_store::pop_ready() noexcept {
    m_first_ready->ready = false;
    m_first_ready = m_first_ready->next_ready;
}

/// Only for a slot that is cleared after an event ran out of memory; else ready events are applied at once.
void orphan_store::leave_ready(orphan& o) noexcept {
    orphan* before = nullptr;
    for (orphan* r = m_first_ready; r != &o; r = r->next_ready) {
        before = r;
    }
    (before == nullptr ? m_first_ready : before->next_ready) = o.next_ready;
    if (m_last_ready == &o) {
        m_last_ready = before;
    }
}

void orphan_store::drop(orphan& o) noexcept {
    for (orphan_block& b : o.blocks) {
        if (!b.struck) {
            unlink(b);
        }
    }
    leave_siblings(o);
    if (o.ready) {
        leave_ready(o);
    }
    m_blocks -= o.waiting;
    m_of_slot[number_of(o.slot)]--;
    m_by_age.erase(o.self);
}

void orphan_store::link(orphan_block& b) noexcept {
    const key k = block_key(b);
    auto* chain = m_named.find(k);
    if (chain == nullptr) {
        m_named.insert({k, &b, &b});
    } else {
        b.previous = chain->last;
        chain->last->next = &b;
        chain->last = &b;
    }
}

void orphan_store::unlink(orphan_block& b) noexcept {
    auto* chain = m_named.find(block_key(b));
    if (chain->first == &b && chain->last == &b) {
        m_named.erase(chain);
        return;
    }
    (b.previous == nullptr ? chain->first : b.previous->next) = b.next;
    (b.next == nullptr ? chain->last : b.next->previous) = b.previous;
}

void orphan_store::join_siblings(orphan& o) noexcept {
    auto* chain = m_waiting.find(parent_key(o));
    o.next_sibling = nullptr;
    o.previous_sibling = nullptr;
    if (chain == nullptr) {
        m_waiting.insert({parent_key(o), &o, &o});
    } else {
        o.previous_sibling = chain->last;
        chain->last->next_sibling = &o;
        chain->last = &o;
    }
}

void orphan_store::leave_siblings(orphan& o) noexcept {
    auto* chain = m_waiting.find(parent_key(o));
    if (chain->first == &o && chain->last == &o) {
        m_waiting.erase(chain);
        return;
    }
    (o.previous_sibling == nullptr ? chain->first : o.previous_sibling->next_sibling) = o.next_sibling;
    (o.next_sibling == nullptr ? chain->last : o.next_sibling->previous_sibling) = o.previous_sibling;
}

} // namespace kvindex::index
