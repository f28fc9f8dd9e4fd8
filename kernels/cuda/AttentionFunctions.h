// reprise: what the compiler makes for each launch of attention: the arithmetic of a score
#ifndef REPRISE_KERNELS_CUDA_ATTENTIONFUNCTIONS_H
#define REPRISE_KERNELS_CUDA_ATTENTIONFUNCTIONS_H

#include "AttentionShape.h"
#include "Launch.h"

namespace reprise::cuda {

/// Head of an operand: its number among all, its batch entry, and its number there.
struct Head {
  Index number, batch, head;
};

/// Score: its head, query and key.
struct ScorePlace {
  Index batch, head, query, key;
};

extern "C" {
extern const AttentionShape shape;
/// attentionLayout() of both tiles, one behind the other.
extern SHARED char shared_memory[];

/// Returns the score of a product: scaled, with its bias.
float attention_score(const Launch &launch, const ScorePlace &place, float product);
/// Returns 1 if the key is a term of the query's sums.
int attention_sees(const Launch &launch, const ScorePlace &place);
/// Returns exp(score − base·ln 2), rounded as f32, but 0 below about 2^-126.
float attention_power(float score, float base);
/// Returns the base of a largest score, and the lse of a largest score and a sum.
float attention_base(float most);
float attention_lse(float most, float total);
/// Returns sum / total, and 0 for a query that sees no key.
float attention_quotient(float sum, float total);
/// Returns the gradient of a product from that of its score.
float attention_scaled(float x);
/// Return the word of a score, and dropout(x) by that word.
unsigned attention_word(const Launch &launch, const ScorePlace &place);
float attention_dropout(unsigned word, float x);
/// Draws the four words from a score on.
void attention_words(const Launch &launch, const ScorePlace &place, unsigned (&words)[4]);
/// Round sums to the type of results, and store one or two neighbours.
void attention_store(GLOBAL uint16_t *to, float value);
void attention_store_pair(GLOBAL uint16_t *to, float left, float right);
}

} // namespace reprise::cuda

#endif // REPRISE_KERNELS_CUDA_ATTENTIONFUNCTIONS_H
