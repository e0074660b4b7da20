/// A tokenizer.json as the benchmarks need it: vocabulary and merges, trusted; settings come from the command
/// line.
#pragma once

#include "tokens/bpe_tokenizer.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace kvindex::bench {

class tokenizer_json {
public:
    explicit tokenizer_json(const std::string& text);

    std::unique_ptr<tokens::bpe_tokenizer> make(tokens::pattern which, bool ignore_merges) const;

private:
    void skip_to(const char* what);
    bool next_is(char c);
    std::string string();
    std::uint32_t number();
    void read_vocabulary();
    void read_merges();

    const std::string& m_text;
    std::size_t m_at = 0;
    std::unordered_map<std::string, std::uint32_t> m_ids; // by the file's letters
    std::vector<std::string> m_contents;                  // bytes
    std::vector<std::uint32_t> m_content_ids;
    std::vector<tokens::merge> m_merges;
};

} // namespace kvindex::bench
