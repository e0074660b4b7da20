/// The literal index: every name of every slot with the chain of blocks that it stands for, and no tree of
/// coverage, no runs, no intervals. Slow and obviously right; says what prefix_index has to answer.
#pragma once

#include "base/types.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace kvindex::tests {

/// Chains of local hashes, each with a number; 0 is the empty chain. Chains are never forgotten.
class chains {
public:
    std::uint32_t longer(std::uint32_t chain, local_hash local) {
        const auto [found, fresh] = m_number.try_emplace({chain, local}, m_steps.size() + 1);
        if (fresh) {
            m_steps.push_back({chain, local});
        }
        return static_cast<std::uint32_t>(found->second);
    }

    std::optional<std::uint32_t> find(std::uint32_t chain, local_hash local) const {
        const auto found = m_number.find({chain, local});
        return found == m_number.end() ? std::nullopt
                                       : std::optional(static_cast<std::uint32_t>(found->second));
    }

    std::vector<local_hash> locals(std::uint32_t chain) const {
        std::vector<local_hash> out;
        for (; chain != 0; chain = m_steps[chain - 1].first) {
            out.push_back(m_steps[chain - 1].second);
        }
        std::reverse(out.begin(), out.end());
        return out;
    }

    std::uint32_t size() const {
        return static_cast<std::uint32_t>(m_steps.size());
    }

private:
    std::map<std::pair<std::uint32_t, local_hash>, std::size_t> m_number;
    std::vector<std::pair<std::uint32_t, local_hash>> m_steps;
};

class oracle {
public:
    explicit oracle(std::uint64_t orphan_limit) : m_limit(orphan_limit) {
    }

    std::optional<slot_id> open_slot() {
        for (std::uint32_t slot = 0; slot < max_slots; slot++) {
            if (!m_slots.contains(slot)) {
                m_slots[slot];
                return slot_id{slot};
            }
        }
        return std::nullopt;
    }

    bool close_slot(slot_id slot) {
        if (!m_slots.contains(number_of(slot))) {
            return false;
        }
        clear(number_of(slot), all_tiers);
        m_slots.erase(number_of(slot));
        return true;
    }

    applied_counts apply(const event& e) {
        if (const auto* stored = std::get_if<stored_event>(&e)) {
            return store(*stored);
        }
        if (const auto* removed = std::get_if<removed_event>(&e)) {
            return remove(*removed);
        }
        const auto& cleared = std::get<cleared_event>(e);
        const std::uint32_t slot = number_of(cleared.slot);
        if (!m_slots.contains(slot)) {
            return {.ignored = 1};
        }
        clear(slot, cleared.tiers);
        return {.applied = 1};
    }

    std::vector<hit> match(std::span<const local_hash> locals) const {
        std::vector<hit> out;
        for (const auto& [slot, held] : m_slots) {
            hit h{.slot = slot};
            for (std::uint32_t t = 0; t < tier_count; t++) {
                std::uint32_t chain = 0;
                for (const local_hash local : locals) {
                    const auto longer = m_chains.find(chain, local);
                    if (!longer || (held.tiers(*longer) & mask_up_to(t)) == 0) {
                        break;
                    }
                    chain = *longer;
                    h.depth[t]++;
                }
            }
            if (h.depth[tier_count - 1] != 0) {
                out.push_back(h);
            }
        }
        return out;
    }

    /// Tiers in which the slot holds each block of the prompt.
    std::vector<tier_mask> tiers_along(slot_id slot, std::span<const local_hash> locals) const {
        std::vector<tier_mask> out(locals.size(), 0);
        std::uint32_t chain = 0;
        for (std::size_t i = 0; i < locals.size(); i++) {
            const auto longer = m_chains.find(chain, locals[i]);
            if (!longer) {
                break;
            }
            chain = *longer;
            out[i] = m_slots.at(number_of(slot)).tiers(chain);
        }
        return out;
    }

    /// Blocks that the slot holds in each tier; none when it is not open.
    tier_blocks blocks_of(std::uint32_t slot) const {
        tier_blocks blocks{};
        if (const auto held = m_slots.find(slot); held != m_slots.end()) {
            for (const auto& [chain, names] : held->second.named) {
                for (std::uint32_t t = 0; t < tier_count; t++) {
                    blocks[t] += count_in(held->second.tiers(chain), t);
                }
            }
        }
        return blocks;
    }

    statistics stats() const {
        statistics s{.slots = m_slots.size(), .orphans = waiting()};
        for (const auto& [slot, held] : m_slots) {
            s.residencies += held.named.size();
        }
        s.blocks = m_holders.size();
        s.moves = m_moves;
        s.orphans_given_up = m_given_up;
        return s;
    }

    /// Names that the slot holds, for choosing what to do next.
    std::size_t names(slot_id slot) const {
        const auto held = m_slots.find(number_of(slot));
        return held == m_slots.end() ? 0 : held->second.entries.size();
    }

    engine_hash name(slot_id slot, std::size_t i) const {
        const auto& entries = m_slots.at(number_of(slot)).entries;
        return std::next(entries.begin(), static_cast<std::ptrdiff_t>(i))->first;
    }

    /// The chain of a name; 0 when the slot does not hold it.
    std::uint32_t chain_of(slot_id slot, engine_hash name) const {
        const auto& entries = m_slots.at(number_of(slot)).entries;
        const auto found = entries.find(name);
        return found == entries.end() ? 0 : found->second.chain;
    }

    /// As after a restart: nothing waits, and what is counted since the beginning begins anew.
    void forget_waiting() {
        m_waiting.clear();
        m_moves = 0;
        m_given_up = 0;
    }

    /// For tests that want every state on the way: called after each block that an event changes.
    std::function<void()> after_each_block = [] {};

    bool is_open(slot_id slot) const {
        return m_slots.contains(number_of(slot));
    }

    const chains& all_chains() const {
        return m_chains;
    }

private:
    struct named_block {
        std::uint32_t chain = 0;
        tier_mask tiers = 0;
    };

    struct holdings {
        std::map<engine_hash, named_block> entries;
        std::map<std::uint32_t, std::set<engine_hash>> named; // chain -> its names

        tier_mask tiers(std::uint32_t chain) const {
            tier_mask all = 0;
            if (const auto found = named.find(chain); found != named.end()) {
                for (const engine_hash name : found->second) {
                    all |= entries.at(name).tiers;
                }
            }
            return all;
        }
    };

    void hold(holdings& held, engine_hash name, std::uint32_t chain, tier where) {
        held.entries[name].chain = chain;
        held.entries[name].tiers |= mask_of(where);
        m_holders[chain] += held.named.contains(chain) ? 0u : 1u;
        held.named[chain].insert(name);
        after_each_block();
    }

    void forget(holdings& held, engine_hash name) {
        const auto e = held.entries.find(name);
        const auto chain = held.named.find(e->second.chain);
        chain->second.erase(name);
        if (chain->second.empty()) {
            if (--m_holders[chain->first] == 0) {
                m_holders.erase(chain->first);
            }
            held.named.erase(chain);
        }
        held.entries.erase(e);
        after_each_block();
    }

    struct waiting_event {
        std::uint32_t slot = 0;
        tier where = tier::gpu;
        engine_hash parent = 0;
        std::vector<engine_hash> names;
        std::vector<local_hash> locals;
        std::vector<bool> struck;

        std::uint64_t alive() const {
            return static_cast<std::uint64_t>(std::count(struck.begin(), struck.end(), false));
        }
    };

    applied_counts store(const stored_event& e) {
        const std::uint32_t slot = number_of(e.slot);
        if (!m_slots.contains(slot)) {
            return {.ignored = 1};
        }
        holdings& held = m_slots[slot];
        waiting_event arrived{slot,
                              e.where,
                              e.parent,
                              {e.names.begin(), e.names.end()},
                              {e.locals.begin(), e.locals.end()},
                              std::vector<bool>(e.names.size(), false)};
        std::uint32_t chain = 0;
        if (e.has_parent) {
            const auto parent = held.entries.find(e.parent);
            if (parent == held.entries.end()) {
                park(arrived);
                return {.orphans = 1};
            }
            chain = parent->second.chain;
        }
        std::deque<waiting_event> ready;
        place(held, chain, arrived, ready);
        while (!ready.empty()) {
            const waiting_event next = ready.front();
            ready.pop_front();
            // A stored event may move its parent, but never lets go of it.
            place(held, held.entries.at(next.parent).chain, next, ready);
        }
        return {.applied = 1};
    }

    void place(holdings& held, std::uint32_t chain, const waiting_event& e, std::deque<waiting_event>& ready) {
        for (std::size_t i = 0; i < e.names.size(); i++) {
            chain = m_chains.longer(chain, e.locals[i]);
            if (e.struck[i]) {
                continue;
            }
            const auto known = held.entries.find(e.names[i]);
            if (known != held.entries.end() && known->second.chain != chain) {
                forget(held, e.names[i]);
                m_moves++;
            }
            hold(held, e.names[i], chain, e.where);
        }
        for (std::size_t i = 0; i < e.names.size(); i++) {
            for (auto w = m_waiting.begin(); w != m_waiting.end() && !e.struck[i];) {
                if (w->slot == e.slot && w->parent == e.names[i]) {
                    ready.push_back(*w);
                    w = m_waiting.erase(w);
                } else {
                    ++w;
                }
            }
        }
    }

    void park(const waiting_event& e) {
        m_waiting.push_back(e);
        while (waiting() > m_limit) {
            m_given_up += m_waiting.front().alive();
            m_waiting.pop_front();
        }
    }

    applied_counts remove(const removed_event& e) {
        const std::uint32_t slot = number_of(e.slot);
        if (!m_slots.contains(slot)) {
            return {.ignored = 1};
        }
        holdings& held = m_slots[slot];
        applied_counts counts{.applied = 1};
        for (const engine_hash name : e.names) {
            bool known = strike(slot, e.where, name);
            const auto found = held.entries.find(name);
            if (found != held.entries.end() && (found->second.tiers & mask_of(e.where)) != 0) {
                known = true;
                found->second.tiers &= static_cast<tier_mask>(~mask_of(e.where));
                if (found->second.tiers == 0) {
                    forget(held, name);
                }
                after_each_block();
            }
            counts.unknown_removed += known ? 0u : 1u;
        }
        return counts;
    }

    bool strike(std::uint32_t slot, tier where, engine_hash name) {
        bool found = false;
        for (waiting_event& w : m_waiting) {
            for (std::size_t i = 0; i < w.names.size() && w.slot == slot && w.where == where; i++) {
                if (w.names[i] == name && !w.struck[i]) {
                    w.struck[i] = true;
                    found = true;
                }
            }
        }
        return found;
    }

    void clear(std::uint32_t slot, tier_mask tiers) {
        holdings& held = m_slots[slot];
        std::vector<engine_hash> gone;
        for (auto& [name, block] : held.entries) {
            block.tiers &= static_cast<tier_mask>(~tiers);
            if (block.tiers == 0) {
                gone.push_back(name);
            }
        }
        for (const engine_hash name : gone) {
            forget(held, name);
        }
        after_each_block();
        std::erase_if(m_waiting, [&](const waiting_event& w) {
            return w.slot == slot && (tiers & mask_of(w.where)) != 0;
        });
    }

    std::uint64_t waiting() const {
        std::uint64_t blocks = 0;
        for (const waiting_event& w : m_waiting) {
            blocks += w.alive();
        }
        return blocks;
    }

    std::uint64_t m_limit;
    std::uint64_t m_moves = 0;
    std::uint64_t m_given_up = 0;
    chains m_chains;
    std::map<std::uint32_t, holdings> m_slots;
    std::map<std::uint32_t, std::uint32_t> m_holders; // chain -> slots that hold its last block
    std::list<waiting_event> m_waiting;
};

} // namespace kvindex::tests
