#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "matrix_tree.hpp"

namespace h3n {

namespace {

constexpr std::int32_t NONE = -1;

// ---- the k best ----

// What a part of a tree may be. For spans h is the head: ANY is with a label or without, LABELLED with one, RIGHT_OPEN
// without one has no dependents on the left of its head; GOVERNED is a labelled span that h governs from outside.
enum Kind : std::int32_t { NOTHING, TOP, GOVERNED, ANY, RIGHT_OPEN, LABELLED, FROM_LEFT, FROM_RIGHT, BASE };

struct Item {
    Kind kind = NOTHING;
    std::int32_t i = 0, j = 0, h = 0;
    bool operator==(const Item& other) const { return kind == other.kind && i == other.i && j == other.j && h == other.h; }
};

// The k best derivations of each part, found when somebody asks (Huang and Chiang 2005, algorithm 3). `steps` lists the
// steps that make up a part: list(item, scores) adds the best score of each, tails(item, step, first, second) tells what
// the step leaves to do.
template <class Steps>
class Lists {
  public:
    explicit Lists(Steps& steps) : steps_(steps), table_(1024, NONE) {
        nodes_.reserve(256);
        found_.reserve(512);
        scores_.reserve(8192);
    }

    struct Derivation {
        float score, base;           // base: with the best derivation of each tail
        std::int32_t step;
        std::int32_t first, second;  // which of its tails' derivations
        std::int32_t next;           // of the same part: the next best, or another candidate
    };

    // The number of a part's derivation of this rank, counted from 0; NONE if there are not so many.
    std::int32_t get(std::int32_t node, std::int32_t rank) {
        if (nodes_[node].known == NONE && !extend(node, NONE)) return NONE;
        std::int32_t at = nodes_[node].known;
        for (; rank > 0; --rank) {
            if (found_[at].next == NONE && !extend(node, at)) return NONE;
            at = found_[at].next;
        }
        return at;
    }

    std::int32_t node(const Item& item) {
        if (nodes_.size() * 2 > table_.size()) enlarge();
        for (std::size_t slot = key(item) & (table_.size() - 1);; slot = (slot + 1) & (table_.size() - 1)) {
            if (table_[slot] == NONE) {
                table_[slot] = static_cast<std::int32_t>(nodes_.size());
                nodes_.push_back({item, NONE, NONE, 0, 0, false});
                return table_[slot];
            }
            if (nodes_[table_[slot]].item == item) return table_[slot];
        }
    }

    const Item& item(std::int32_t node) const { return nodes_[node].item; }
    const Derivation& derivation(std::int32_t at) const { return found_[at]; }

  private:
    struct Node {
        Item item;
        std::int32_t known;       // its derivations, the best first
        std::int32_t candidates;  // derivations with worse tails, in no order
        std::size_t scores, after;
        bool begun;
    };

    static std::size_t key(const Item& item) {
        std::uint64_t value = static_cast<std::uint64_t>(item.kind) << 60 | static_cast<std::uint64_t>(item.i) << 40 |
                              static_cast<std::uint64_t>(item.j) << 20 | static_cast<std::uint64_t>(item.h);
        value *= 0x9E3779B97F4A7C15U;
        return value ^ value >> 29;
    }

    void enlarge() {
        table_.assign(table_.size() * 4, NONE);
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            std::size_t slot = key(nodes_[id].item) & (table_.size() - 1);
            while (table_[slot] != NONE) slot = (slot + 1) & (table_.size() - 1);
            table_[slot] = static_cast<std::int32_t>(id);
        }
    }

    // Finds the derivation after `last`, which is the last one known.
    bool extend(std::int32_t id, std::int32_t last) {
        if (!nodes_[id].begun) {
            nodes_[id].begun = true;
            const std::size_t from = scores_.size();
            steps_.list(nodes_[id].item, scores_);
            nodes_[id].scores = from;
            nodes_[id].after = scores_.size();
        }
        if (last != NONE) advance(id, last);
        // Either a step not taken so far, or one taken before with worse tails.
        const Node& node = nodes_[id];
        float best = NEVER;
        for (std::size_t k = node.scores; k < node.after; ++k) best = scores_[k] > best ? scores_[k] : best;
        std::int32_t* chosen = nullptr;
        for (std::int32_t* at = &nodes_[id].candidates; *at != NONE; at = &found_[*at].next)
            if (found_[*at].score > best) {
                best = found_[*at].score;
                chosen = at;
            }
        if (best == NEVER) return false;
        std::int32_t made;
        if (chosen != nullptr) {
            made = *chosen;
            *chosen = found_[made].next;
            found_[made].next = NONE;
        } else {
            std::size_t k = node.scores;
            while (scores_[k] != best) ++k;
            scores_[k] = NEVER;
            made = static_cast<std::int32_t>(found_.size());
            found_.push_back({best, best, static_cast<std::int32_t>(k - node.scores), 0, 0, NONE});
        }
        (last == NONE ? nodes_[id].known : found_[last].next) = made;
        return true;
    }

    // The neighbours of a derivation: one rank down on either side, each reached in one way only.
    void advance(std::int32_t id, std::int32_t last) {
        const Derivation from = found_[last];
        Item first, second;
        steps_.tails(nodes_[id].item, from.step, first, second);
        if (first.kind != NOTHING) push(id, from, first, second, 1, 0);
        if (second.kind != NOTHING && from.first == 0) push(id, from, first, second, 0, 1);
    }

    void push(std::int32_t id, const Derivation& from, const Item& first, const Item& second, std::int32_t more_first,
              std::int32_t more_second) {
        Derivation made{from.base, from.base, from.step, from.first + more_first, from.second + more_second, NONE};
        const auto lose = [&](const Item& tail, std::int32_t rank) {
            if (rank == 0) return true;
            const std::int32_t tail_node = node(tail), at = get(tail_node, rank);
            if (at == NONE) return false;
            made.score += found_[at].score - found_[nodes_[tail_node].known].score;
            return true;
        };
        if (!lose(first, made.first) || !lose(second, made.second)) return;
        made.next = nodes_[id].candidates;
        nodes_[id].candidates = static_cast<std::int32_t>(found_.size());
        found_.push_back(made);
    }

    Steps& steps_;
    std::vector<Node> nodes_;
    std::vector<Derivation> found_;
    std::vector<float> scores_;
    std::vector<std::int32_t> table_;
};

// What the chart of a decoder tells of spans: `inner(i, j, h)` is the best pair of children under this head,
// `governed(i, j, h)` what the span is worth to a governor outside it, `head(i, j)` its head if it can have one only.
struct CkyView {
    const Sentence& s;
    const Charts& c;
    std::int32_t n;
    static constexpr bool ARCS_TOO = false, ONE_HEAD = true;
    // One head for all, right of everything: a tree without heads is a joint one that grows to the left only.
    std::int32_t head(std::int32_t, std::int32_t) const { return n; }
    float inner(std::int32_t i, std::int32_t j, std::int32_t) const {
        if (j == i + 1) return 0.0F;
        const float whole = c.first[j * c.width + i], label = (j - i == n ? s.full : s.open)[i][j];
        return label == NEVER ? NEVER : whole - label;
    }
    float any(std::int32_t i, std::int32_t j, std::int32_t) const { return c.first[j * c.width + i]; }
    float governed(std::int32_t i, std::int32_t j, std::int32_t h) const {
        return inner(i, j, h) + (j == i + 1 ? s.open : s.full)[i][j];
    }
};

struct HpsgView {
    const Sentence& s;
    const Charts& c;
    std::int32_t n;
    static constexpr bool ARCS_TOO = true, ONE_HEAD = false;
    std::int32_t head(std::int32_t, std::int32_t) const { return NONE; }
    float at(std::int32_t a, std::int32_t b, std::int32_t h) const {
        const std::size_t w = c.lanes, head = static_cast<std::size_t>(h);
        return c.first[((a * c.width + head / w) * static_cast<std::size_t>(n + 1) + b) * w + head % w];
    }
    float inner(std::int32_t i, std::int32_t j, std::int32_t h) const {
        if (j == i + 1) return 0.0F;
        return s.open[i][j] == NEVER ? NEVER : at(j, i, h) - s.open[i][j];
    }
    float any(std::int32_t i, std::int32_t j, std::int32_t h) const { return at(j, i, h); }
    float governed(std::int32_t i, std::int32_t j, std::int32_t h) const { return h < i ? at(j, i, h) : at(i, j, h); }
};

struct GivenView {  // h3n
    const Sentence& s;
    const Charts& c;
    std::int32_t n;
    static constexpr bool ARCS_TOO = true, ONE_HEAD = true;
    std::int32_t head(std::int32_t i, std::int32_t j) const { return c.heads[j * c.width + i]; }
    float inner(std::int32_t i, std::int32_t j, std::int32_t) const { return c.first[i * c.width + j]; }
    float any(std::int32_t i, std::int32_t j, std::int32_t h) const { return inner(i, j, h) + s.open[i][j]; }
    float governed(std::int32_t i, std::int32_t j, std::int32_t h) const {
        return inner(i, j, h) + (j == i + 1 ? s.open : s.full)[i][j] + s.arc[h][head(i, j)];
    }
};

// What no label is worth: 0 if `open` allows for it, unless the sentence tells.
float empty_of(const Sentence& s, std::int32_t i, std::int32_t j) {
    if (s.empty.data != nullptr) return s.empty[i][j];
    const float full = s.full[i][j], open = s.open[i][j];
    return open > full ? open : full >= 0.0F ? 0.0F : NEVER;
}

// The steps of trees of spans. A step of a span of several words is a split, with a label (the first ones) or without.
template <class View>
class SpanSteps {
  public:
    SpanSteps(const View& view, const Sentence& s) : view_(view), s_(s), n_(view.n) {
        if (View::ARCS_TOO) chains_.assign(static_cast<std::size_t>(n_) * n_, NONE);
    }

    Item top() const { return View::ARCS_TOO ? Item{TOP, 0, n_, 0} : Item{LABELLED, 0, n_, n_}; }

    void list(const Item& item, std::vector<float>& scores) {
        const std::int32_t i = item.i, j = item.j, h = item.h;
        if (item.kind == TOP || item.kind == GOVERNED) {
            const float label = (j == i + 1 && item.kind == GOVERNED ? s_.open : s_.full)[i][j];
            for (std::int32_t m = i; m < j; ++m)
                scores.push_back(view_.ONE_HEAD && m != view_.head(i, j)
                                     ? NEVER
                                     : view_.inner(i, j, m) + label + (item.kind == TOP ? s_.root[m] : s_.arc[h][m]));
            return;
        }
        const float full = s_.full[i][j], empty = item.kind == LABELLED ? NEVER : empty_of(s_, i, j);
        if (j == i + 1) {
            scores.push_back(full);
            scores.push_back(empty);
            return;
        }
        const std::size_t from = scores.size(), count = static_cast<std::size_t>(j - i - 1);
        scores.resize(from + (empty == NEVER ? count : 2 * count));
        float* out = scores.data() + from;
        for (std::int32_t k = i + 1; k <= h && k < j; ++k) out[k - i - 1] = view_.governed(i, k, h) + view_.any(k, j, h);
        if (h < j - 1) {
            const float* open = i == h ? nullptr : right_open(i, h, j);
            for (std::int32_t k = h + 1; k < j; ++k)
                out[k - i - 1] = (open == nullptr ? view_.any(i, k, h) : open[k - h - 1]) + view_.governed(k, j, h);
        }
        if (empty > NEVER)
            for (std::size_t k = 0; k < count; ++k)
                out[count + k] = item.kind == RIGHT_OPEN && static_cast<std::int32_t>(k) + i + 1 <= h ? NEVER : out[k] + empty;
        for (std::size_t k = 0; k < count; ++k) out[k] += full;
    }

    void tails(const Item& item, std::int32_t step, Item& first, Item& second) const {
        const std::int32_t i = item.i, j = item.j, h = item.h;
        if (item.kind == TOP || item.kind == GOVERNED) {
            first = {j == i + 1 && item.kind == GOVERNED ? ANY : LABELLED, i, j, i + step};
            return;
        }
        if (j == i + 1) return;
        const std::int32_t k = i + 1 + step % (j - i - 1);
        if (h < k) {
            first = {k == i + 1 || i == h ? ANY : RIGHT_OPEN, i, k, h};
            second = dependent(k, j, h);
        } else {
            first = dependent(i, k, h);
            second = {ANY, k, j, h};
        }
    }

    // What a step adds to the tree: the label of its span, the governor of a word.
    void add(const Item& item, std::int32_t step, Result& result) const {
        const std::int32_t i = item.i, j = item.j, h = item.h;
        if (item.kind == TOP || item.kind == GOVERNED) {
            result.governors[i + step] = item.kind == TOP ? ROOT : h;
            return;
        }
        if (step < std::max(j - i - 1, 1)) result.nodes.push_back({i, j, 1, View::ARCS_TOO ? h : NO_HEAD});
        if (View::ARCS_TOO && View::ONE_HEAD && j > i + 1) {
            const std::int32_t k = i + 1 + step % (j - i - 1);
            result.governors[h < k ? view_.head(k, j) : view_.head(i, k)] = h;
        }
    }

  private:
    Item dependent(std::int32_t i, std::int32_t j, std::int32_t h) const {
        if (View::ONE_HEAD) return {j == i + 1 ? ANY : LABELLED, i, j, view_.head(i, j)};
        return {GOVERNED, i, j, h};
    }

    // The best RIGHT_OPEN spans (i, k) for h < k < last. The chart has them with dependents on the left as well.
    const float* right_open(std::int32_t i, std::int32_t h, std::int32_t last) {
        std::int32_t& chain = chains_[static_cast<std::size_t>(i) * n_ + h];
        if (chain == NONE) {
            chain = static_cast<std::int32_t>(open_.size());
            open_.resize(open_.size() + n_ - h + 1, 0.0F);  // how many are there so far comes first
        }
        float* known = open_.data() + chain + 1;
        for (auto at = static_cast<std::int32_t>(known[-1]); h + 1 + at < last; ++at) {
            const std::int32_t k = h + 1 + at;
            float without = NEVER;
            for (std::int32_t before = h + 1; before < k; ++before)
                without = std::max(without, known[before - h - 1] + view_.governed(before, k, h));
            known[at] = std::max(view_.inner(i, k, h) + s_.full[i][k], without + empty_of(s_, i, k));
            known[-1] = static_cast<float>(at + 1);
        }
        return known;
    }

    const View view_;
    const Sentence& s_;
    std::int32_t n_;
    std::vector<std::int32_t> chains_;  // by start and head: where its chain is
    std::vector<float> open_;
};

// The steps of trees of arcs. Words i .. j, both included, as in eisner.hpp.
class ArcSteps {
  public:
    ArcSteps(const Sentence& s, const Charts& c) : s_(s), c_(c), n_(static_cast<std::int32_t>(s.words)) {}

    Item top() const { return {TOP, 0, n_, 0}; }

    void list(const Item& item, std::vector<float>& scores) const {
        const std::int32_t i = item.i, j = item.j;
        const std::size_t row = i * c_.width, column = j * c_.width;
        if (item.kind == TOP)
            for (std::int32_t r = 0; r < n_; ++r) scores.push_back(c_.third[r * c_.width] + c_.second[(n_ - 1) * c_.width + r] + s_.root[r]);
        else if (item.kind == BASE)
            for (std::int32_t k = i; k < j; ++k) scores.push_back(c_.second[k * c_.width + i] + c_.third[column + k + 1]);
        else if (item.kind == FROM_LEFT)
            for (std::int32_t k = i + 1; k <= j; ++k) scores.push_back(c_.first[row + k] + c_.second[column + k]);
        else
            for (std::int32_t k = i; k < j; ++k) scores.push_back(c_.third[k * c_.width + i] + c_.fourth[column + k]);
    }

    void tails(const Item& item, std::int32_t step, Item& first, Item& second) const {
        const std::int32_t i = item.i, j = item.j, k = word(item, step);
        const auto set = [](Item& to, Kind kind, std::int32_t from, std::int32_t last) {
            if (from < last) to = {kind, from, last, 0};
        };
        set(first, item.kind == BASE || item.kind == TOP ? (item.kind == TOP ? FROM_RIGHT : FROM_LEFT) : BASE,
            item.kind == FROM_RIGHT ? k : item.kind == TOP ? 0 : i, item.kind == FROM_RIGHT ? j : k);
        if (item.kind == TOP)
            set(second, FROM_LEFT, k, n_ - 1);
        else if (item.kind == BASE)
            set(second, FROM_RIGHT, k + 1, j);
        else if (item.kind == FROM_LEFT)
            set(second, FROM_LEFT, k, j);
        else
            set(second, FROM_RIGHT, i, k);
    }

    void add(const Item& item, std::int32_t step, Result& result) const {
        if (item.kind == BASE) return;
        result.governors[word(item, step)] = item.kind == TOP ? ROOT : item.kind == FROM_LEFT ? item.i : item.j;
    }

  private:
    static std::int32_t word(const Item& item, std::int32_t step) {
        return item.kind == TOP ? step : item.i + step + (item.kind == FROM_LEFT ? 1 : 0);
    }

    const Sentence& s_;
    const Charts& c_;
    std::int32_t n_;
};

template <class Steps>
void find_best(Steps steps, const Sentence& sentence, const Decoder& decoder, std::size_t best, Workspace& workspace,
               std::vector<Result>& trees) {
    Lists<Steps> lists(steps);
    const std::int32_t top = lists.node(steps.top());
    std::vector<std::pair<std::int32_t, std::int32_t>> stack;
    for (std::size_t rank = 0; rank < best; ++rank) {
        workspace.spend(1e4 * static_cast<double>(sentence.words));
        if (lists.get(top, static_cast<std::int32_t>(rank)) == NONE) break;
        Result result;
        if (decoder.needs & ARCS) result.governors.resize(sentence.words, ROOT);
        if (decoder.needs & SPANS) result.nodes.reserve(2 * sentence.words);
        stack.assign(1, {top, static_cast<std::int32_t>(rank)});
        while (!stack.empty()) {
            const auto [node, which] = stack.back();
            stack.pop_back();
            const auto taken = lists.derivation(lists.get(node, which));
            const Item item = lists.item(node);
            steps.add(item, taken.step, result);
            Item first, second;
            steps.tails(item, taken.step, first, second);
            if (second.kind != NOTHING) stack.push_back({lists.node(second), taken.second});
            if (first.kind != NOTHING) stack.push_back({lists.node(first), taken.first});
        }
        Tree tree{result.nodes.data(), result.nodes.size(), result.governors.data()};
        result.score = score_of(sentence, tree, decoder.needs & ARCS);
        trees.push_back(std::move(result));
    }
    // The chart's sums are of 32 bits, and rounded; these are not.
    std::stable_sort(trees.begin(), trees.end(), [](const Result& a, const Result& b) { return a.score > b.score; });
}

// ---- probabilities ----

// What is expected of a tree's score, less that of another one close to the best: so that nothing large is taken from something large.
double expected_loss(const Sentence& s, const Tree& tree, unsigned needs, const Answer& answer) {
    const std::size_t n = s.words;
    double sum = 0.0;
    if (needs & SPANS) {
        double strands[8] = {};  // several, so that none has to wait for the one before
        for (std::size_t i = 0; i < n; ++i) {
            const float *shares = answer.spans.data() + i * (n + 1), *full = s.full[i];
            for (std::size_t j = i + 1; j <= n; ++j) strands[j % 8] += shares[j] > 0.0F ? shares[j] * full[j] : 0.0F;
        }
        for (const double strand : strands) sum += strand;
        for (std::size_t k = 0; k < tree.node_count; ++k)
            if (tree.nodes[k].labelled) sum -= s.full[tree.nodes[k].start][tree.nodes[k].end];
    }
    if (needs & ARCS)
        for (std::size_t m = 0; m < n; ++m) {
            const std::int32_t governor = tree.governors[m];
            const double taken = governor == ROOT ? s.root[m] : s.arc[governor][m];
            for (std::size_t h = 0; h <= n; ++h)
                if (const float share = answer.arcs[h * n + m]; share > 0.0F)
                    sum += share * ((h == n ? s.root[m] : s.arc[h][m]) - taken);
        }
    return sum;
}

void find_distribution(const Sentence& sentence, const Decoder& decoder, const Question& question, Workspace& workspace,
                       Answer& answer) {
    const std::size_t n = sentence.words;
    if (decoder.needs & SPANS) answer.spans.resize((n + 1) * (n + 1));
    if (decoder.needs & ARCS) answer.arcs.resize((n + 1) * n);
    std::vector<Node> nodes(2 * n - 1);
    std::vector<std::int32_t> governors(n);
    Tree tree{nodes.data(), 0, governors.data()};
    workspace.reset();
    if (decoder.weigher == nullptr) {  // mst
        bool found = decoder.kernel(sentence, workspace, tree, nullptr);
        if (found) answer.log_partition = matrix_tree(sentence, tree, answer.arcs.data());
        if (!found || !std::isfinite(answer.log_partition)) answer.status = Status::no_tree;
    } else {
        Shares shares;
        shares.spans = answer.spans.data();
        shares.arcs = answer.arcs.data();
        shares.samples = question.samples;
        shares.random = question.seed;
        struct Receiver {
            const Sentence& sentence;
            const Decoder& decoder;
            std::vector<Result>& samples;
        } receiver{sentence, decoder, answer.samples};
        shares.receiver = &receiver;
        shares.receive = [](void* to, const Tree& tree) {
            auto& [given, drawn_by, samples] = *static_cast<Receiver*>(to);
            Result result;
            result.nodes.assign(tree.nodes, tree.nodes + tree.node_count);
            if (drawn_by.needs & ARCS) result.governors.assign(tree.governors, tree.governors + given.words);
            result.score = score_of(given, tree, drawn_by.needs & ARCS);
            samples.push_back(std::move(result));
        };
        if (!decoder.weigher(sentence, workspace, tree, shares)) answer.status = Status::no_tree;
        answer.log_partition = shares.log_partition;
        answer.head_cells.reserve(3 * shares.head_count);
        answer.head_values.reserve(shares.head_count);
        for (std::size_t k = 0; k < shares.head_count; ++k) {
            const Shares::Head& head = shares.heads[k];
            answer.head_cells.insert(answer.head_cells.end(), {head.start, head.end, head.head});
            answer.head_values.push_back(head.share);
        }
    }
    const double score = score_of(sentence, tree, decoder.needs & ARCS);
    if (answer.status == Status::fine && !std::isfinite(score)) answer.status = Status::changed;
    answer.entropy = std::max(0.0, answer.log_partition - score - expected_loss(sentence, tree, decoder.needs, answer));
}

// Whether a span without a label is worth 0 or barred everywhere.
bool empty_is_nothing(const Sentence& s) {
    int odd = 0;  // a count, not an answer at the first: without a branch the loop is vectorised
    for (std::size_t i = 0; i < s.words; ++i) {
        const float *full = s.full[i], *empty = s.empty.data == nullptr ? s.open[i] : s.empty[i];
        const int told = s.empty.data == nullptr ? 0 : 1;
        for (std::size_t j = i + 1; j <= s.words; ++j)
            odd += (told | static_cast<int>(empty[j] > full[j])) & static_cast<int>(empty[j] != 0.0F) & static_cast<int>(empty[j] != NEVER);
    }
    return odd == 0;
}

// Two charts beside that of the search, and for `hpsg` the list of heads.
std::size_t bytes_of(const Decoder& decoder, std::size_t words) {
    const std::size_t heads = (decoder.needs & SPANS) && !(decoder.needs & HEADS) ? words * words * words / 6 : words * words;
    return 3 * decoder.bytes(words) + heads * sizeof(Shares::Head);
}

}  // namespace

Answer explore(const Sentence& sentence, const Decoder& decoder, const Question& question, Workspace& workspace) {
    Answer answer;
    const std::size_t n = sentence.words;
    if (n == 0) {
        if (question.best > 0) answer.trees.resize(1);
        answer.samples.resize(question.samples);
        if (decoder.needs & SPANS) answer.spans.resize(1);
        return answer;
    }
    answer.status = check(sentence, decoder.needs);
    if (answer.status != Status::fine) return answer;
    const bool sums = question.marginals || question.samples > 0;
    if ((decoder.needs & SPANS) && !empty_is_nothing(sentence)) answer.status = Status::odd_empty;
    if (sums && bytes_of(decoder, n) > question.limit) answer.status = Status::too_large;
    if (answer.status != Status::fine) return answer;
    if (question.best > 0) {
        std::vector<Node> nodes(2 * n - 1);
        std::vector<std::int32_t> governors(n);
        Tree tree{nodes.data(), 0, governors.data()};
        Charts charts;
        workspace.reset();
        if (!decoder.kernel(sentence, workspace, tree, &charts)) {
            answer.status = Status::no_tree;
            return answer;
        }
        if (!std::isfinite(score_of(sentence, tree, decoder.needs & ARCS))) {
            answer.status = Status::changed;
            return answer;
        }
        const std::string name = decoder.name;
        const auto words = static_cast<std::int32_t>(n);
        const auto find = [&](auto steps) {
            find_best(std::move(steps), sentence, decoder, question.best, workspace, answer.trees);
        };
        if (name == "cky")
            find(SpanSteps<CkyView>(CkyView{sentence, charts, words}, sentence));
        else if (name == "hpsg")
            find(SpanSteps<HpsgView>(HpsgView{sentence, charts, words}, sentence));
        else if (name == "h3n")
            find(SpanSteps<GivenView>(GivenView{sentence, charts, words}, sentence));
        else
            find(ArcSteps(sentence, charts));
    }
    if (sums) find_distribution(sentence, decoder, question, workspace, answer);
    return answer;
}

}  // namespace h3n
