// reprise: coefficients of the elementary functions, highest power first.
//
// Written by utils/polynomials/generate.py.
// In brackets: the error of the polynomial alone, relative to the function. The f32 ones are exact
// in f32.

#ifndef REPRISE_EMISSION_POLYNOMIALS_H
#define REPRISE_EMISSION_POLYNOMIALS_H

#include <cstdint>

// clang-format off
namespace reprise::emission {

namespace f32 {
/// (exp(r) - 1 - r)/r², |r| <= ln(2)/2 [2^-28.2]
constexpr double exponential[] = {
    0x1.6a2408p-10,
    0x1.1239ccp-7,
    0x1.5558d2p-5,
    0x1.555492p-3,
    0x1.fffffcp-2,
};
/// (2^r - 1)/r, |r| <= 1/2 [2^-27.6]
constexpr double powerOfTwo[] = {
    0x1.41fc18p-13,
    0x1.5f3efap-10,
    0x1.3b2e28p-7,
    0x1.c6af2cp-5,
    0x1.ebfbdap-3,
    0x1.62e43p-1,
};
/// (2^r - 1)/r, |r| <= 1/2: where 16 bits are rounded to [2^-23.3]
constexpr double coarsePowerOfTwo[] = {
    0x1.5bba0ep-10,
    0x1.3cea7p-7,
    0x1.c6b70ap-5,
    0x1.ebf9bep-3,
    0x1.62e42ap-1,
};
/// (tanh(x)/x - 1)/s in s = x², x <= 0.625 [2^-27.4]
constexpr double tanhSmall[] = {
    -0x1.75e1e8p-8,
    0x1.5226ap-6,
    -0x1.b83c5ep-5,
    0x1.110722p-3,
    -0x1.555532p-2,
};
/// erf(x)/x - 1 in s = x², x <= 0.85 [2^-26.4]
constexpr double erfSmall[] = {
    -0x1.4b1878p-11,
    0x1.4b0754p-8,
    -0x1.b72212p-6,
    0x1.ce23dcp-4,
    -0x1.81271ap-2,
    0x1.06eba8p-3,
};
/// log2(erfc(t))/t, 0.85 <= t [2^-28.0]
constexpr double erfLarge[] = {
    0x1.46518ap-12,
    -0x1.314d34p-8,
    0x1.0f0e42p-5,
    -0x1.373714p-3,
    -0x1.d58a8ep-1,
    -0x1.a0ccbcp+0,
};
/// (log(1 + f) - f)/f², |f| <= 1/3 [2^-27.6]
constexpr double logarithm[] = {
    -0x1.0803cep-3,
    0x1.1e668ap-3,
    -0x1.f3120ep-4,
    0x1.1ed72ap-3,
    -0x1.559dcap-3,
    0x1.99d034p-3,
    -0x1.fffefp-3,
    0x1.555506p-2,
    -0x1p-1,
};
/// (sin(r)/r - 1)/s in s = r², |r| <= pi/4 [2^-27.7]
constexpr double sine[] = {
    -0x1.99433p-13,
    0x1.110758p-7,
    -0x1.555546p-3,
};
/// (cos(r) - 1 + s/2)/s² in s = r², |r| <= pi/4 [2^-33.0]
constexpr double cosine[] = {
    0x1.99eb9ap-16,
    -0x1.6c0c3p-10,
    0x1.55554ap-5,
};
/// sin(pi/2 y)/y - f32(pi/2) in s = y², |y| <= 1/2 [2^-28.0]
constexpr double sineOfTurn[] = {
    -0x1.2d9378p-8,
    0x1.465e7p-4,
    -0x1.4abbb8p-1,
    -0x1.a331aap-25,
};
/// cos(pi/2 y) in s = y², |y| <= 1/2 [2^-29.0]
constexpr double cosineOfTurn[] = {
    0x1.d9d50cp-11,
    -0x1.55c648p-6,
    0x1.03c1d6p-2,
    -0x1.3bd3ccp+0,
    0x1p+0,
};
} // namespace f32

namespace f64 {
/// (exp(r) - 1 - r)/r², |r| <= ln(2)/2 [2^-56.3]
constexpr double exponential[] = {
    0x1.ad7fc7ce23364p-26,
    0x1.28ad71fe0ca08p-22,
    0x1.71df2517fe6e3p-19,
    0x1.a0199a0d3b33ap-16,
    0x1.a01a012a72951p-13,
    0x1.6c16c18429ca3p-10,
    0x1.1111111127b94p-7,
    0x1.555555555087ep-5,
    0x1.55555555554fap-3,
    0x1.000000000000ap-1,
};
/// (2^r - 1)/r, |r| <= 1/2 [2^-55.6]
constexpr double powerOfTwo[] = {
    0x1.c2cecd5583dbfp-36,
    0x1.ea01522b929fap-32,
    0x1.e4d06c53960fdp-28,
    0x1.b524dd5322e38p-24,
    0x1.62c021e275dfep-20,
    0x1.ffcbfc74d7189p-17,
    0x1.430912f883cdfp-13,
    0x1.5d87fe78a26c6p-10,
    0x1.3b2ab6fba4e22p-7,
    0x1.c6b08d704a0cfp-5,
    0x1.ebfbdff82c58fp-3,
    0x1.62e42fefa39efp-1,
};
/// (tanh(x)/x - 1)/s in s = x², x <= 0.625 [2^-56.8]
constexpr double tanhSmall[] = {
    0x1.95809f6ae2c93p-18,
    -0x1.fa75088f55937p-16,
    0x1.800614721d7f1p-14,
    -0x1.f10cb3a3921a3p-13,
    0x1.350ae1a121227p-11,
    -0x1.7d9c1d5fa5637p-10,
    0x1.d6d3584f1154cp-9,
    -0x1.226e32c1397a8p-7,
    0x1.664f487037d57p-6,
    -0x1.ba1ba1b9ce697p-5,
    0x1.1111111110c04p-3,
    -0x1.5555555555552p-2,
};
/// erf(x)/x - 1 in s = x², x <= 0.85 [2^-56.3]
constexpr double erfSmall[] = {
    0x1.28f5c143f8f36p-34,
    -0x1.436a68f4ce196p-30,
    0x1.faa550c1eb10ep-27,
    -0x1.5f5a00d5550b5p-23,
    0x1.b9e513c551a89p-20,
    -0x1.f4d248828b57dp-17,
    0x1.f9a3265d99503p-14,
    -0x1.c02db3fd0367p-11,
    0x1.565bcd0e5f436p-8,
    -0x1.b82ce3128888p-6,
    0x1.ce2f21a042bdcp-4,
    -0x1.812746b0379e7p-2,
    0x1.06eba8214db69p-3,
};
/// log2(erfc(t))/t, 0.85 <= t [2^-56.2]
constexpr double erfLarge[] = {
    0x1.7c9363a1d1c04p-39,
    -0x1.02165a220fcb8p-33,
    0x1.480aa6801e0cep-29,
    -0x1.03867e527b3a7p-25,
    0x1.1e05aa1288d78p-22,
    -0x1.d09c0f938d9efp-20,
    0x1.1dc363191523dp-17,
    -0x1.0af335a33da53p-15,
    0x1.6dbf6d1888a82p-14,
    -0x1.3bfe0c5136f13p-13,
    0x1.72b71aa38a54ap-16,
    0x1.a50e58aa58403p-11,
    -0x1.3cc3962d3d893p-9,
    0x1.2d536ac9427c1p-12,
    0x1.c438f68a486cp-6,
    -0x1.2fa8884af96cap-3,
    -0x1.d63ed216d56e2p-1,
    -0x1.a0be83fed8f0fp+0,
};
/// (log(1 + f) - f)/f², |f| <= 1/3 [2^-59.9]
constexpr double logarithm[] = {
    0x1.4f0433e237d91p-4,
    -0x1.547caa50eb7dcp-4,
    0x1.214802a56bbd3p-5,
    -0x1.3b91afcc22f38p-5,
    0x1.c0ae2d72137f4p-5,
    -0x1.d684d63066475p-5,
    0x1.e0004ef53a3e1p-5,
    -0x1.fe74bf2ff2bf8p-5,
    0x1.1121dae2df812p-4,
    -0x1.249ef7aa37e3p-4,
    0x1.3b12ec3e8b299p-4,
    -0x1.5554cf1ada9f8p-4,
    0x1.745d1d1e59e22p-4,
    -0x1.99999d162e86bp-4,
    0x1.c71c71ab993e4p-4,
    -0x1.fffffff253ed8p-4,
    0x1.24924924b70a3p-3,
    -0x1.555555556330cp-3,
    0x1.99999999996acp-3,
    -0x1.fffffffffff58p-3,
    0x1.5555555555556p-2,
    -0x1p-1,
};
/// (sin(r)/r - 1)/s in s = r², |r| <= pi/4 [2^-56.3]
constexpr double sine[] = {
    0x1.5d8fa3d6494d1p-33,
    -0x1.ae5e59f7a3c68p-26,
    0x1.71de35671439bp-19,
    -0x1.a01a019bfd18dp-13,
    0x1.111111110f7cap-7,
    -0x1.5555555555548p-3,
};
/// (cos(r) - 1 + s/2)/s² in s = r², |r| <= pi/4 [2^-59.6]
constexpr double cosine[] = {
    -0x1.8fa467a131ccp-37,
    0x1.1ee9d756048b5p-29,
    -0x1.27e4f7ea3cf96p-22,
    0x1.a01a019c8399p-16,
    -0x1.6c16c16c14f8ap-10,
    0x1.555555555554bp-5,
};
/// (log(1 + f) - f)/f², |f| <= 1/3: for pow of f32 [2^-40.8]
constexpr double shortLogarithm[] = {
    0x1.962297a805e9dp-4,
    -0x1.a71c8593e0516p-4,
    0x1.2222cc469e964p-4,
    -0x1.3ee77fd81d6edp-4,
    0x1.76ac92fa6d06ap-4,
    -0x1.9b75458328e1ap-4,
    0x1.c6ff30ac5df8ep-4,
    -0x1.ffebde7f4ebdcp-4,
    0x1.2492a922e83d2p-3,
    -0x1.555589250f23ap-3,
    0x1.9999987e1e068p-3,
    -0x1.ffffffa0e697p-3,
    0x1.55555555d1bdcp-2,
    -0x1p-1,
};
/// (2^r - 1)/r, |r| <= 1/2: for pow of f32 [2^-45.9]
constexpr double shortPowerOfTwo[] = {
    0x1.b3de55bd50a8ap-24,
    0x1.63e6990f75f0fp-20,
    0x1.ffce2f98933b1p-17,
    0x1.430897f0d266cp-13,
    0x1.5d87fd9397376p-10,
    0x1.3b2ab724136b7p-7,
    0x1.c6b08d70c879dp-5,
    0x1.ebfbdff81bdf9p-3,
    0x1.62e42fefa37d1p-1,
};
/// (atanh(s)/s - 1 - z/3)/z² in z = s², s <= tanh(ln(2)/4) [2^-66.5]
constexpr double inverseTanh[] = {
    0x1.a2296bab2ee2cp-5,
    0x1.814c55d92daf4p-5,
    0x1.af5dddf6f4934p-5,
    0x1.e1e06daefefcp-5,
    0x1.1111145c4de71p-4,
    0x1.3b13b131507bdp-4,
    0x1.745d1745e3f21p-4,
    0x1.c71c71c71c5cbp-4,
    0x1.2492492492493p-3,
    0x1.999999999999ap-3,
};
} // namespace f64

/// The bits of 2/pi, 32 at a time, of which the first 64 stand before the point.
constexpr uint32_t twoOverPiBits[] = {
    0x00000000,
    0x00000000,
    0xa2f9836e,
    0x4e441529,
    0xfc2757d1,
    0xf534ddc0,
    0xdb629599,
    0x3c439041,
    0xfe5163ab,
    0xdebbc561,
    0xb7246e3a,
    0x424dd2e0,
    0x06492eea,
    0x09d1921c,
    0xfe1deb1c,
    0xb129a73e,
    0xe88235f5,
    0x2ebb4484,
    0xe99c7026,
    0xb45f7e41,
    0x3991d639,
    0x835339f4,
    0x9c845f8b,
    0xbdf9283b,
    0x1ff897ff,
    0xde05980f,
    0xef2f118b,
    0x5a0a6d1f,
    0x6d367ecf,
    0x27cb09b7,
    0x4f463f66,
    0x9e5fea2d,
    0x7527bac7,
    0xebe5f17b,
    0x3d0739f7,
    0x8a5292ea,
    0x6bfb5fb1,
    0x1f8d5d08,
    0x56033046,
};
} // namespace reprise::emission
// clang-format on

#endif
