#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace h3n {

namespace {

constexpr std::int32_t NONE = -1;
constexpr float ZERO = 0.0F;

// In the order in which nodes of one span lead to each other.
enum Kind : std::int32_t { TOP, GOVERNED, ANY, RIGHT_OPEN, LABELLED, RIGHTWARD, LEFTWARD, FROM_LEFT, FROM_RIGHT, BASE, KINDS };

struct Item {
    Kind kind;
    std::int32_t i, j, h;
};

struct Edge {
    float weight;
    std::int32_t first, second;    // nodes, or NONE
    std::int32_t governor, word;   // the arc it adds, if word is not NONE
};

struct Node {
    Item item;
    double bound, outside;         // of the best tree through here: at most their sum
    std::int32_t edges, after;     // its edges
    std::int32_t next;             // of the same length and kind, while the forest grows
};

struct TooLarge {};

class Forest {
  public:
    std::vector<Node> nodes;       // after `grow`, in `order`, parents first
    std::vector<Edge> edges;
    std::vector<std::int32_t> order;

    Forest(std::size_t words, double floor, std::size_t limit)
        : floor_(floor), limit_(limit), waiting_((words + 1) * KINDS, NONE), table_(1024, NONE) {}

    bool reaches(double score) const { return score >= floor_ && score > NEVER; }

    // An edge from the node at work, if a tree through it is good enough. Tails are given with bounds on their insides.
    void add(float weight, const Item* first, double first_bound, const Item* second = nullptr, double second_bound = 0.0,
             std::int32_t governor = NONE, std::int32_t word = NONE) {
        const double outside = nodes[current_].outside;
        const double without_first = outside + weight + second_bound;
        if (!reaches(without_first + first_bound)) return;
        Edge edge{weight, NONE, NONE, governor, word};
        if (first != nullptr) edge.first = node(*first, first_bound, without_first);
        if (second != nullptr) edge.second = node(*second, second_bound, outside + weight + first_bound);
        edges.push_back(edge);
        if (edges.size() * sizeof(Edge) + nodes.size() * 2 * sizeof(Node) > limit_) throw TooLarge{};
    }

    // Calls expand(item) for each node, after all that lead to it.
    template <class Expand>
    void grow(const Item& top, double bound, Workspace& workspace, Expand expand) {
        node(top, bound, 0.0);
        for (std::size_t bucket = waiting_.size(); bucket-- > 0;)
            while (waiting_[place(bucket)] != NONE) {
                current_ = waiting_[place(bucket)];
                waiting_[place(bucket)] = nodes[current_].next;
                order.push_back(current_);
                nodes[current_].edges = static_cast<std::int32_t>(edges.size());
                const Item item = nodes[current_].item;
                workspace.spend(20.0 * (item.j - item.i + 1));
                expand(item);
                nodes[current_].after = static_cast<std::int32_t>(edges.size());
            }
    }

  private:
    // Longest spans first, and of one length the kinds in their order.
    static std::size_t place(std::size_t bucket) { return bucket / KINDS * KINDS + (KINDS - 1 - bucket % KINDS); }

    static std::uint64_t key(const Item& item) {
        std::uint64_t value = static_cast<std::uint64_t>(item.kind) << 60 | static_cast<std::uint64_t>(item.i) << 40 |
                              static_cast<std::uint64_t>(item.j) << 20 | static_cast<std::uint64_t>(item.h);
        value *= 0x9E3779B97F4A7C15U;
        return value ^ value >> 29;
    }

    std::int32_t node(const Item& item, double bound, double outside) {
        if (nodes.size() * 2 > table_.size()) enlarge();
        for (std::size_t slot = key(item) & (table_.size() - 1);; slot = (slot + 1) & (table_.size() - 1)) {
            const std::int32_t found = table_[slot];
            if (found == NONE) {
                const auto made = static_cast<std::int32_t>(nodes.size());
                std::int32_t& head = waiting_[static_cast<std::size_t>(item.j - item.i) * KINDS + item.kind];
                nodes.push_back({item, bound, outside, 0, 0, head});
                head = made;
                return table_[slot] = made;
            }
            Node& old = nodes[found];
            if (old.item.kind == item.kind && old.item.i == item.i && old.item.j == item.j && old.item.h == item.h) {
                old.outside = std::max(old.outside, outside);
                return found;
            }
        }
    }

    void enlarge() {
        std::vector<std::int32_t> larger(table_.size() * 4, NONE);
        for (const std::int32_t id : table_) {
            if (id == NONE) continue;
            std::size_t slot = key(nodes[id].item) & (larger.size() - 1);
            while (larger[slot] != NONE) slot = (slot + 1) & (larger.size() - 1);
            larger[slot] = id;
        }
        table_ = std::move(larger);
    }

    double floor_;
    std::size_t limit_;
    std::vector<std::int32_t> waiting_;  // the last node of each length and kind
    std::vector<std::int32_t> table_;
    std::int32_t current_ = 0;
};

// ---- the steps of each kind of tree, top down ----

// What the chart of a decoder tells of spans: `inner(i, j, h)` bounds the best pair of children, `governed(i, j, h)` what
// the span is worth to a governor outside it. `heads` are the words that may head it.
struct CkyView {
    const Sentence& s;
    const Charts& c;
    std::int32_t n;
    static constexpr bool ARCS_TOO = false;
    // One head for all, right of everything: a tree without heads is a joint one that grows to the left only.
    std::int32_t first_head(std::int32_t, std::int32_t) const { return n; }
    std::int32_t after_head(std::int32_t, std::int32_t) const { return n + 1; }
    float inner(std::int32_t i, std::int32_t j, std::int32_t) const {
        if (j == i + 1) return 0.0F;
        const float whole = c.first[j * c.width + i], label = (j - i == n ? s.full : s.open)[i][j];
        return label == NEVER ? NEVER : whole - label;
    }
    float governed(std::int32_t i, std::int32_t j, std::int32_t h) const {
        return inner(i, j, h) + (j == i + 1 ? s.open : s.full)[i][j];
    }
    float arc(std::int32_t, std::int32_t) const { return 0.0F; }
    float root(std::int32_t) const { return 0.0F; }
};

struct HpsgView {
    const Sentence& s;
    const Charts& c;
    std::int32_t n;
    static constexpr bool ARCS_TOO = true;
    std::int32_t first_head(std::int32_t i, std::int32_t) const { return i; }
    std::int32_t after_head(std::int32_t, std::int32_t j) const { return j; }
    float at(std::int32_t a, std::int32_t b, std::int32_t h) const {
        const std::size_t w = c.lanes, head = static_cast<std::size_t>(h);
        return c.first[((a * c.width + head / w) * static_cast<std::size_t>(n + 1) + b) * w + head % w];
    }
    float inner(std::int32_t i, std::int32_t j, std::int32_t h) const {
        if (j == i + 1) return 0.0F;
        return s.open[i][j] == NEVER ? NEVER : at(j, i, h) - s.open[i][j];
    }
    float governed(std::int32_t i, std::int32_t j, std::int32_t h) const { return h < i ? at(j, i, h) : at(i, j, h); }
    float arc(std::int32_t h, std::int32_t m) const { return s.arc[h][m]; }
    float root(std::int32_t m) const { return s.root[m]; }
};

struct GivenView {  // h3n
    const Sentence& s;
    const Charts& c;
    std::int32_t n;
    static constexpr bool ARCS_TOO = true;
    std::int32_t first_head(std::int32_t i, std::int32_t j) const { return c.heads[j * c.width + i]; }
    std::int32_t after_head(std::int32_t i, std::int32_t j) const { return first_head(i, j) + 1; }
    float inner(std::int32_t i, std::int32_t j, std::int32_t h) const {
        return first_head(i, j) == h ? c.first[i * c.width + j] : NEVER;
    }
    float governed(std::int32_t i, std::int32_t j, std::int32_t h) const {
        const std::int32_t m = first_head(i, j);
        return c.first[i * c.width + j] + (j == i + 1 ? s.open : s.full)[i][j] + s.arc[h][m];
    }
    float arc(std::int32_t h, std::int32_t m) const { return s.arc[h][m]; }
    float root(std::int32_t m) const { return s.root[m]; }
};

// What no label is worth: 0 if `open` allows for it, unless the sentence tells.
float empty_of(const Sentence& s, std::int32_t i, std::int32_t j) {
    if (s.empty.data != nullptr) return s.empty[i][j];
    const float full = s.full[i][j], open = s.open[i][j];
    return open > full ? open : full >= 0.0F ? 0.0F : NEVER;
}

template <class View>
void grow_spans(Forest& forest, const View& view, const Sentence& s, double best, Workspace& workspace) {
    const std::int32_t n = view.n;
    const auto bound = [&](const Item& item) -> double {
        const float inner = view.inner(item.i, item.j, item.h);
        if (item.kind == LABELLED) return static_cast<double>(inner) + s.full[item.i][item.j];
        if (item.kind == ANY || item.kind == RIGHT_OPEN) return static_cast<double>(inner) + s.open[item.i][item.j];
        return inner;
    };
    const auto one = [&](float weight, const Item& item, std::int32_t governor = NONE, std::int32_t word = NONE) {
        forest.add(weight, &item, bound(item), nullptr, 0.0, governor, word);
    };
    const auto inners = [&](float weight, const Item& item, bool leftward) {
        if (View::ARCS_TOO) one(weight, {RIGHTWARD, item.i, item.j, item.h});
        if (leftward) one(weight, {LEFTWARD, item.i, item.j, item.h});
    };
    // A single word, labelled or not, is one node for all that ask for it.
    const auto head_side = [&](Kind kind, std::int32_t i, std::int32_t j, std::int32_t h) {
        return Item{j == i + 1 ? ANY : kind, i, j, h};
    };
    forest.grow({TOP, 0, n, 0}, best, workspace, [&](const Item& item) {
        const std::int32_t i = item.i, j = item.j, h = item.h;
        switch (item.kind) {
            case TOP:
                for (std::int32_t m = view.first_head(0, n); m < view.after_head(0, n); ++m)
                    one(view.root(m), {LABELLED, 0, n, m}, ROOT, View::ARCS_TOO ? m : NONE);
                break;
            case GOVERNED:
                for (std::int32_t m = view.first_head(i, j); m < view.after_head(i, j); ++m)
                    one(view.arc(h, m), head_side(LABELLED, i, j, m), h, View::ARCS_TOO ? m : NONE);
                break;
            case ANY:
            case RIGHT_OPEN:
                one(ZERO, {LABELLED, i, j, h});
                if (j == i + 1)
                    forest.add(empty_of(s, i, j), nullptr, 0.0);
                else
                    inners(empty_of(s, i, j), item, item.kind == ANY);
                break;
            case LABELLED:
                if (j == i + 1)
                    forest.add(s.full[i][j], nullptr, 0.0);
                else
                    inners(s.full[i][j], item, true);
                break;
            case RIGHTWARD:
                for (std::int32_t k = h + 1; k < j; ++k) {
                    const Item left = head_side(RIGHT_OPEN, i, k, h), right{GOVERNED, k, j, h};
                    forest.add(ZERO, &left, bound(left), &right, view.governed(k, j, h));
                }
                break;
            default:
                for (std::int32_t k = i + 1; k < j && k <= h; ++k) {
                    const Item left{GOVERNED, i, k, h}, right = head_side(ANY, k, j, h);
                    forest.add(ZERO, &left, view.governed(i, k, h), &right, bound(right));
                }
        }
    });
}

// Words i .. j, both included, as in eisner.hpp.
void grow_arcs(Forest& forest, const Sentence& s, const Charts& c, double best, Workspace& workspace) {
    const auto n = static_cast<std::int32_t>(s.words);
    const auto rightward = [&](std::int32_t i, std::int32_t j) { return c.second[j * c.width + i]; };
    const auto leftward = [&](std::int32_t i, std::int32_t j) { return c.third[j * c.width + i]; };
    const auto base = [&](std::int32_t i, std::int32_t j) {
        return s.arc[i][j] == NEVER ? NEVER : c.first[i * c.width + j] - s.arc[i][j];
    };
    // The chart has no bound on two words that are not joined where the arc from the left is barred: then none but this.
    const auto base_bound = [&](std::int32_t i, std::int32_t j) {
        float most = base(i, j);
        if (most == NEVER)
            for (std::int32_t k = i; k < j; ++k) most = std::max(most, rightward(i, k) + leftward(k + 1, j));
        return most;
    };
    const auto pair = [&](float weight, Item first, double first_bound, Item second, double second_bound,
                          std::int32_t governor, std::int32_t word) {
        forest.add(weight, first.i == first.j ? nullptr : &first, first_bound, second.i == second.j ? nullptr : &second,
                   second_bound, governor, word);
    };
    forest.grow({TOP, 0, n, 0}, best, workspace, [&](const Item& item) {
        const std::int32_t i = item.i, j = item.j;
        if (item.kind == TOP)
            for (std::int32_t r = 0; r < n; ++r)
                pair(s.root[r], {FROM_RIGHT, 0, r, 0}, leftward(0, r), {FROM_LEFT, r, n - 1, 0}, rightward(r, n - 1), ROOT, r);
        else if (item.kind == BASE)
            for (std::int32_t k = i; k < j; ++k)
                pair(ZERO, {FROM_LEFT, i, k, 0}, rightward(i, k), {FROM_RIGHT, k + 1, j, 0}, leftward(k + 1, j), NONE, NONE);
        else if (item.kind == FROM_LEFT)
            for (std::int32_t k = i + 1; k <= j; ++k)
                pair(s.arc[i][k], {BASE, i, k, 0}, base_bound(i, k), {FROM_LEFT, k, j, 0}, rightward(k, j), i, k);
        else
            for (std::int32_t k = i; k < j; ++k)
                pair(s.arc[j][k], {BASE, k, j, 0}, base_bound(k, j), {FROM_RIGHT, i, k, 0}, leftward(i, k), j, k);
    });
}

// ---- over the forest ----

// The best score of every node, in double; NEVER where a bound promised too much.
std::vector<double> best_scores(const Forest& forest) {
    std::vector<double> best(forest.nodes.size(), NEVER);
    for (std::size_t at = forest.order.size(); at-- > 0;) {
        const Node& node = forest.nodes[forest.order[at]];
        for (std::int32_t e = node.edges; e < node.after; ++e) {
            const Edge& edge = forest.edges[e];
            const double score = edge.weight + (edge.first == NONE ? 0.0 : best[edge.first]) +
                                 (edge.second == NONE ? 0.0 : best[edge.second]);
            best[forest.order[at]] = std::max(best[forest.order[at]], score);
        }
    }
    return best;
}

// Reads a tree: `choose(node)` gives the edge taken at each node, `tails` the tokens passed on to both tails.
template <class Token, class Choose>
Result read(const Forest& forest, const Sentence& sentence, const Decoder& decoder, Token top, Choose choose) {
    Result result;
    if (decoder.needs & ARCS) result.governors.resize(sentence.words, ROOT);
    std::vector<std::pair<std::int32_t, Token>> stack{{0, top}};
    while (!stack.empty()) {
        const auto [id, token] = stack.back();
        stack.pop_back();
        const Item& item = forest.nodes[id].item;
        Token first{}, second{};
        const Edge& edge = forest.edges[choose(id, token, first, second)];
        result.score += edge.weight;
        if (item.kind == LABELLED)
            result.nodes.push_back({item.i, item.j, 1, decoder.needs & ARCS ? item.h : NO_HEAD});
        if (edge.word != NONE) result.governors[edge.word] = edge.governor;
        if (edge.second != NONE) stack.push_back({edge.second, second});
        if (edge.first != NONE) stack.push_back({edge.first, first});
    }
    std::sort(result.nodes.begin(), result.nodes.end(), [](const h3n::Node& a, const h3n::Node& b) {
        return a.start != b.start ? a.start < b.start : a.end > b.end;
    });
    return result;
}

// The k best derivations of each node, found when somebody asks (Huang and Chiang 2005, algorithm 3).
class Lists {
  public:
    Lists(const Forest& forest, const std::vector<double>& best) : forest_(forest), best_(best), lists_(forest.nodes.size()) {}

    struct Derivation {
        double score;
        std::int32_t edge;
        std::size_t first, second;  // which of its tails' derivations
        bool operator<(const Derivation& other) const {
            return score < other.score || (score == other.score && edge > other.edge);
        }
    };

    // The derivation of this rank, counted from 0; null if there are not so many.
    const Derivation* get(std::int32_t node, std::size_t rank) {
        List& list = lists_[node];
        if (!list.begun) begin(node, list);
        while (list.known.size() <= rank) {
            if (list.advanced < list.known.size()) advance(list);
            if (list.waiting.empty()) return nullptr;
            std::pop_heap(list.waiting.begin(), list.waiting.end());
            list.known.push_back(list.waiting.back());
            list.waiting.pop_back();
        }
        return &list.known[rank];
    }

  private:
    struct List {
        std::vector<Derivation> known, waiting;
        std::size_t advanced = 0;
        bool begun = false;
    };

    void begin(std::int32_t node, List& list) {
        list.begun = true;
        for (std::int32_t e = forest_.nodes[node].edges; e < forest_.nodes[node].after; ++e) {
            const Edge& edge = forest_.edges[e];
            const double score = edge.weight + (edge.first == NONE ? 0.0 : best_[edge.first]) +
                                 (edge.second == NONE ? 0.0 : best_[edge.second]);
            if (score > NEVER) list.waiting.push_back({score, e, 0, 0});
        }
        std::make_heap(list.waiting.begin(), list.waiting.end());
    }

    // The neighbours of the last one known: one rank down on either side, each reached in one way only.
    void advance(List& list) {
        const Derivation last = list.known[list.advanced++];
        const Edge& edge = forest_.edges[last.edge];
        if (edge.first != NONE) push(list, edge, {0.0, last.edge, last.first + 1, last.second});
        if (edge.second != NONE && last.first == 0) push(list, edge, {0.0, last.edge, 0, last.second + 1});
    }

    void push(List& list, const Edge& edge, Derivation made) {
        const Derivation* first = edge.first == NONE ? nullptr : get(edge.first, made.first);
        if (edge.first != NONE && first == nullptr) return;
        made.score = edge.weight + (first == nullptr ? 0.0 : first->score);
        const Derivation* second = edge.second == NONE ? nullptr : get(edge.second, made.second);
        if (edge.second != NONE && second == nullptr) return;
        made.score += second == nullptr ? 0.0 : second->score;
        list.waiting.push_back(made);
        std::push_heap(list.waiting.begin(), list.waiting.end());
    }

    const Forest& forest_;
    const std::vector<double>& best_;
    std::vector<List> lists_;
};

// The probability of each edge among those of its node. Sums are relative to the best, so nothing overflows.
struct Probabilities {
    std::vector<double> of_edge;
    double log_partition = 0.0;
};

Probabilities probabilities_of(const Forest& forest, const std::vector<double>& best) {
    Probabilities made{std::vector<double>(forest.edges.size(), 0.0), 0.0};
    std::vector<double> sums(forest.nodes.size(), 0.0);  // over the derivations, relative to the best of them
    const auto of = [](const std::vector<double>& values, std::int32_t node, double otherwise) {
        return node == NONE ? otherwise : values[node];
    };
    for (std::size_t at = forest.order.size(); at-- > 0;) {
        const std::int32_t id = forest.order[at];
        const Node& node = forest.nodes[id];
        if (best[id] == NEVER) continue;
        for (std::int32_t e = node.edges; e < node.after; ++e) {
            const Edge& edge = forest.edges[e];
            const double score = edge.weight + of(best, edge.first, 0.0) + of(best, edge.second, 0.0);
            made.of_edge[e] = std::exp(score - best[id]) * of(sums, edge.first, 1.0) * of(sums, edge.second, 1.0);
            sums[id] += made.of_edge[e];
        }
        for (std::int32_t e = node.edges; e < node.after; ++e) made.of_edge[e] /= sums[id];
    }
    made.log_partition = best[0] + std::log(sums[0]);
    return made;
}

void fill_marginals(const Forest& forest, const Sentence& sentence, const Decoder& decoder, const Probabilities& given,
                    Answer& answer) {
    const std::size_t n = sentence.words;
    if (decoder.needs & SPANS) answer.spans.resize((n + 1) * (n + 1));
    if (decoder.needs & ARCS) answer.arcs.resize((n + 1) * n);
    std::vector<double> share(forest.nodes.size(), 0.0), spans(answer.spans.size()), arcs(answer.arcs.size());
    share[0] = 1.0;
    for (const std::int32_t id : forest.order) {
        const Node& node = forest.nodes[id];
        if (share[id] == 0.0) continue;
        if (node.item.kind == LABELLED) {
            spans[node.item.i * (n + 1) + node.item.j] += share[id];
            if (decoder.needs & ARCS) {
                answer.head_cells.insert(answer.head_cells.end(), {node.item.i, node.item.j, node.item.h});
                answer.head_values.push_back(static_cast<float>(share[id]));
            }
        }
        for (std::int32_t e = node.edges; e < node.after; ++e) {
            const double mine = share[id] * given.of_edge[e];
            if (mine == 0.0) continue;
            const Edge& edge = forest.edges[e];
            answer.entropy -= mine * std::log(given.of_edge[e]);
            if (edge.first != NONE) share[edge.first] += mine;
            if (edge.second != NONE) share[edge.second] += mine;
            if (edge.word != NONE)
                arcs[(edge.governor == ROOT ? n : static_cast<std::size_t>(edge.governor)) * n + edge.word] += mine;
        }
    }
    std::copy(spans.begin(), spans.end(), answer.spans.begin());
    std::copy(arcs.begin(), arcs.end(), answer.arcs.begin());
    answer.log_partition = given.log_partition;
}

// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine.
struct Random {
    std::uint64_t state;
    double next() {
        std::uint64_t z = state += 0x9E3779B97F4A7C15U;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
        z = (z ^ z >> 27) * 0x94D049BB133111EBU;
        return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
    }
};

Forest forest_of(const Sentence& sentence, const Decoder& decoder, const Charts& charts, double best, double reach,
                 std::size_t limit, Workspace& workspace) {
    // The chart's maxima are 32-bit sums, each rounded; a little more than asked for makes up for that.
    const double slack = 1e-4 + 1e-5 * std::abs(best);
    Forest forest(sentence.words, best - reach - slack, limit);
    const auto n = static_cast<std::int32_t>(sentence.words);
    const std::string name = decoder.name;
    const double top = best + slack;
    if (name == "cky")
        grow_spans(forest, CkyView{sentence, charts, n}, sentence, top, workspace);
    else if (name == "hpsg")
        grow_spans(forest, HpsgView{sentence, charts, n}, sentence, top, workspace);
    else if (name == "h3n")
        grow_spans(forest, GivenView{sentence, charts, n}, sentence, top, workspace);
    else
        grow_arcs(forest, sentence, charts, top, workspace);
    return forest;
}

constexpr double FIRST_REACH = 2.0;  // enough for some ten trees of most sentences
constexpr double LAST_REACH = 100.0;

void find_best(const Sentence& sentence, const Decoder& decoder, const Charts& charts, double best,
               const Question& question, Workspace& workspace, Answer& answer) {
    for (double reach = FIRST_REACH;; reach *= 3.0) {
        if (reach > LAST_REACH) reach = std::numeric_limits<double>::infinity();
        const Forest forest = forest_of(sentence, decoder, charts, best, reach, question.limit, workspace);
        const std::vector<double> scores = best_scores(forest);
        Lists lists(forest, scores);
        answer.trees.clear();
        for (std::size_t rank = 0; rank < question.best; ++rank) {
            workspace.spend(1000.0);
            const Lists::Derivation* found = lists.get(0, rank);
            if (found == nullptr || found->score < best - reach) break;
            answer.trees.push_back(read<std::size_t>(
                forest, sentence, decoder, rank, [&](std::int32_t node, std::size_t which, std::size_t& first, std::size_t& second) {
                    const Lists::Derivation& taken = *lists.get(node, which);
                    first = taken.first;
                    second = taken.second;
                    return taken.edge;
                }));
        }
        if (answer.trees.size() == question.best || std::isinf(reach)) return;
    }
}

void find_distribution(const Sentence& sentence, const Decoder& decoder, const Charts& charts, double best,
                       const Question& question, Workspace& workspace, Answer& answer) {
    const Forest forest = forest_of(sentence, decoder, charts, best, REACH, question.limit, workspace);
    const std::vector<double> scores = best_scores(forest);
    if (scores[0] == NEVER) {
        answer.status = Status::no_tree;
        return;
    }
    const Probabilities given = probabilities_of(forest, scores);
    fill_marginals(forest, sentence, decoder, given, answer);
    Random random{question.seed};
    for (std::size_t k = 0; k < question.samples; ++k) {
        workspace.spend(1000.0);
        answer.samples.push_back(read<char>(forest, sentence, decoder, 0, [&](std::int32_t id, char, char&, char&) {
            const Node& node = forest.nodes[id];
            double left = random.next();
            std::int32_t last = node.edges;
            for (std::int32_t e = node.edges; e < node.after; ++e) {
                if (given.of_edge[e] == 0.0) continue;
                last = e;  // what rounding leaves over goes to the last one possible
                left -= given.of_edge[e];
                if (left < 0.0) break;
            }
            return last;
        }));
    }
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
    std::vector<h3n::Node> nodes(2 * n - 1);
    std::vector<std::int32_t> governors(n);
    Tree tree{nodes.data(), 0, governors.data()};
    Charts charts;
    workspace.reset();
    if (!decoder.kernel(sentence, workspace, tree, &charts)) {
        answer.status = Status::no_tree;
        return answer;
    }
    const double best = score_of(sentence, tree, decoder.needs & ARCS);
    if (!std::isfinite(best)) {
        answer.status = Status::changed;
        return answer;
    }
    try {
        if (question.best > 0) find_best(sentence, decoder, charts, best, question, workspace, answer);
        if (question.marginals || question.samples > 0)
            find_distribution(sentence, decoder, charts, best, question, workspace, answer);
    } catch (const TooLarge&) {
        answer.status = Status::too_large;
    }
    return answer;
}

}  // namespace h3n
