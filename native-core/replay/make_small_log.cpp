/// Writes a small op-log with its answers, so that the runner is tested without any recorded traffic.
///
///   make_small_log OPLOG ANSWERS [right | deeper | shallower | missing | extra]
///
/// A fleet of 70 workers serves conversations that share system prompts: prompts are stored in pieces, decoded
/// block by block, evicted end first, and single blocks vanish from the middle. Always the same bytes. Answers
/// come from a literal loop over what each worker holds; with a last argument other than "right", one of them
/// is wrong in that way, and the file is well-formed all the same.
#include "kvindex.h"
#include "oplog_format.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace kvindex::replay;

constexpr std::uint32_t workers = 70; // more than 64: two words of a bit set
constexpr std::uint32_t block_tokens = 4;
constexpr std::uint32_t requests = 160;

using hashes = std::vector<std::uint64_t>;

/// A prompt's blocks: the content of each, and the name that an engine gives it.
struct chain {
    hashes locals;
    hashes names;
};

chain chain_of(const std::vector<std::uint32_t>& tokens) {
    std::uint64_t seed = 0;
    std::uint32_t blocks = 0;
    chain out{hashes(tokens.size() / block_tokens), hashes(tokens.size() / block_tokens)};
    if (kvi_seed(nullptr, 0, nullptr, 0, &seed) != KVI_OK ||
        kvi_hash(tokens.data(), static_cast<std::uint32_t>(tokens.size()), block_tokens, seed,
                 out.locals.data(), out.names.data(), static_cast<std::uint32_t>(out.names.size()),
                 &blocks) != KVI_OK ||
        blocks != out.names.size()) {
        throw std::runtime_error("kvi_hash failed");
    }
    return out;
}

template <typename T>
void put(std::ofstream& out, const T& value) {
    out.write(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put(std::ofstream& out, std::span<const std::uint64_t> words) {
    out.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size_bytes()));
}

/// The right answer, and how many blocks were asked for.
struct asked {
    answer_record head;
    std::uint32_t blocks;
    std::vector<depth_pair> pairs;
};

/// What happens in the fleet, written down as it happens.
class fleet {
public:
    explicit fleet(const std::string& path) : m_out(path, std::ios::binary), m_held(workers) {
        m_header.magic = oplog_magic;
        m_header.version = oplog_version;
        m_header.workers = workers;
        m_header.block_tokens = block_tokens;
        put(m_out, m_header);
    }

    void query(const chain& c) {
        asked a{{m_header.queries, m_header.records, 0, 0}, size_of(c.locals), {}};
        for (std::uint32_t w = 0; w < workers; w++) {
            std::uint32_t depth = 0;
            while (depth < a.blocks && m_held[w].contains(c.names[depth])) {
                depth++;
            }
            if (depth != 0) {
                a.pairs.push_back({w, depth});
            }
        }
        m_answers.push_back(a);
        record({op_kind::query, 0, a.blocks, 0, 0, 0}, c.locals, {});
        m_header.queries++;
        m_header.query_blocks += a.blocks;
    }

    /// Stores what is missing from the first gap on, at most `piece` blocks an event; a block behind the gap
    /// that is still there is announced again.
    void store(std::uint32_t worker, const chain& c, std::uint32_t piece) {
        std::uint32_t at = 0;
        while (at < c.names.size() && m_held[worker].contains(c.names[at])) {
            at++;
        }
        while (at < c.names.size()) {
            const std::uint32_t n = std::min(piece, size_of(c.names) - at);
            const std::span names = std::span(c.names).subspan(at, n);
            const std::uint64_t parent = at == 0 ? 0 : c.names[at - 1];
            record({op_kind::store, worker, n, at == 0 ? 0u : 1u, ++m_event, parent}, names,
                   std::span(c.locals).subspan(at, n));
            m_held[worker].insert(names.begin(), names.end());
            m_header.stores++;
            m_header.stored_blocks += n;
            at += n;
        }
    }

    /// Removes those of `names` that the worker holds.
    void remove(std::uint32_t worker, const hashes& names) {
        hashes gone;
        std::ranges::copy_if(names, std::back_inserter(gone),
                             [&](std::uint64_t name) { return m_held[worker].erase(name) != 0; });
        if (!gone.empty()) {
            record({op_kind::remove, worker, size_of(gone), 0, ++m_event, 0}, gone, {});
            m_header.removes++;
            m_header.removed_blocks += gone.size();
        }
    }

    void clear(std::uint32_t worker) {
        m_held[worker].clear();
        record({op_kind::clear, worker, 0, 0, ++m_event, 0}, {}, {});
    }

    void finish() {
        for (const auto& held : m_held) {
            m_header.resident += held.size();
        }
        m_out.seekp(0);
        put(m_out, m_header);
        if (!m_out.flush()) {
            throw std::runtime_error("the op-log cannot be written");
        }
    }

    std::vector<asked>& answers() {
        return m_answers;
    }

private:
    static std::uint32_t size_of(const hashes& h) {
        return static_cast<std::uint32_t>(h.size());
    }

    void record(const oplog_record& r, std::span<const std::uint64_t> first,
                std::span<const std::uint64_t> second) {
        put(m_out, r);
        put(m_out, first);
        put(m_out, second);
        m_header.records++;
    }

    std::ofstream m_out;
    oplog_header m_header{};
    std::uint64_t m_event = 0;
    std::vector<std::set<std::uint64_t>> m_held;
    std::vector<asked> m_answers;
};

void serve(fleet& f) {
    std::mt19937 random(3); // its numbers are the same on every platform, those of the distributions are not
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    std::vector<std::vector<std::uint32_t>> talks(24);
    std::uint32_t fresh_token = 1000;
    for (std::uint32_t i = 0; i < requests; i++) {
        std::vector<std::uint32_t>& talk = talks[below(24)];
        if (talk.empty()) {
            talk.assign(48, below(3)); // one of three system prompts, 12 blocks
        }
        for (std::uint32_t k = 4 * (1 + below(9)); k > 0; k--) {
            talk.push_back(fresh_token++);
        }
        const chain prompt = chain_of(talk);
        f.query(prompt);
        // Half of the requests meet a small group of workers, so that some hold several talks of a kind.
        const std::uint32_t worker = below(2) == 0 ? below(6) : below(workers);
        f.store(worker, prompt, 8);
        for (std::uint32_t k = 4 * below(4); k > 0; k--) {
            talk.push_back(fresh_token++);
        }
        const chain whole = chain_of(talk);
        f.store(worker, whole, 1);
        if (i % 3 == 0) { // evicted, end first
            f.remove(worker, hashes(whole.names.rbegin(), whole.names.rbegin() + 2 + below(6)));
        }
        if (i % 5 == 0) { // lost in the middle, sometimes stored again
            f.remove(worker, {whole.names[below(static_cast<std::uint32_t>(whole.names.size()))]});
            if (below(2) == 0) {
                f.store(worker, whole, 8);
            }
        }
        if (i % 40 == 39) {
            f.clear(below(6));
        }
    }
}

/// Makes one answer wrong. Throws when none is fit for it, since a control that controls nothing is none.
void falsify(std::vector<asked>& answers, const std::string& how) {
    for (asked& a : answers) {
        if (a.pairs.empty() || a.pairs.size() == workers) {
            continue;
        }
        depth_pair& first = a.pairs.front();
        if (how == "deeper" && first.depth < a.blocks) {
            first.depth++;
        } else if (how == "shallower" && first.depth > 1) {
            first.depth--;
        } else if (how == "missing") {
            a.pairs.erase(a.pairs.begin());
        } else if (how == "extra" && a.pairs.back().worker + 1 < workers) {
            a.pairs.push_back({a.pairs.back().worker + 1, 1});
        } else {
            continue;
        }
        return;
    }
    throw std::runtime_error("no answer can be made wrong by " + how);
}

void write_answers(const std::string& path, std::vector<asked>& answers) {
    answers_header header{answers_magic, answers.size(), 0, 0};
    for (asked& a : answers) {
        a.head.pairs = static_cast<std::uint32_t>(a.pairs.size());
        for (const depth_pair p : a.pairs) {
            a.head.best = std::max(a.head.best, p.depth);
            header.checksum += pair_checksum(a.head.query, p);
        }
        header.pairs += a.pairs.size();
    }
    std::ofstream out(path, std::ios::binary);
    put(out, header);
    for (const asked& a : answers) {
        put(out, a.head);
        for (const depth_pair p : a.pairs) {
            put(out, p);
        }
    }
    if (!out.flush()) {
        throw std::runtime_error("the answers cannot be written");
    }
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + (argc > 0), argv + argc);
    if (arguments.size() != 2 && arguments.size() != 3) {
        std::fprintf(stderr, "usage: make_small_log OPLOG ANSWERS [right|deeper|shallower|missing|extra]\n");
        return 2;
    }
    try {
        fleet f(arguments[0]);
        serve(f);
        f.finish();
        if (arguments.size() == 3 && arguments[2] != "right") {
            falsify(f.answers(), arguments[2]);
        }
        write_answers(arguments[1], f.answers());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "make_small_log: %s\n", e.what());
        return 2;
    }
    return 0;
}
