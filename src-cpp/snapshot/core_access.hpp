/// What a snapshot reads and makes inside an index core. The core's classes name this one their friend; no
/// other file of this layer touches their private parts.
#pragma once

#include "index/core.hpp"

namespace kvindex::snapshot {

struct core_access {
    static index::memory& memory_of(index::core& c) {
        return c.m_memory;
    }

    static index::holders& holders_of(index::core& c) {
        return c.m_holders;
    }

    static index::names& names_of(index::core& c) {
        return c.m_names;
    }

    static const index::decisions& decisions_of(const index::core& c) {
        return c.m_decisions;
    }

    static index::content& content_of(index::core& c) {
        return c.m_content;
    }

    /// Run numbers in use are below this.
    static std::uint32_t run_end(const index::core& c) {
        return c.m_content.m_top;
    }

    /// A run behind `after`, where there is none for this content; nobody holds it.
    static std::uint32_t make_run(index::core& c, storage::place after, std::span<const local_hash> locals,
                                  std::uint32_t domain) {
        index::laid_blocks laid;
        return c.m_content.make_run(after, locals, domain, laid);
    }

    static std::uint32_t make_line(index::core& c, std::uint32_t run, std::uint32_t plane, std::uint32_t step) {
        return c.m_names.make_line(run, plane, step);
    }

    /// The slot has one more name of its own, or one less.
    static void count_own(index::core& c, std::uint32_t slot, std::int32_t change) {
        c.m_names.m_own[slot] += static_cast<std::uint32_t>(change);
    }

    static engine_hash salted(engine_hash name, std::uint32_t domain) {
        return index::names::salted(name, domain);
    }

    static void erase_own(index::core& c, std::uint32_t slot, engine_hash name) {
        c.m_names.erase_own(slot, name);
    }
};

} // namespace kvindex::snapshot
