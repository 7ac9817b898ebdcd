/* The generators by name, for the registry. A new one is a row here, a row there, and a test. */
#pragma once
#include "generate/generate.h"

extern const struct generator generator_layered, generator_tgff, generator_random; /* random.c */
extern const struct generator generator_fft, generator_gauss, generator_cholesky,
    generator_stencil; /* numeric.c */
extern const struct generator generator_forkjoin, generator_intree, generator_outtree,
    generator_chain, generator_montage;         /* shapes.c */
extern const struct generator generator_prufer; /* prufer.c */
extern const struct generator generator_bag, generator_fanin, generator_fanout,
    generator_pipeline; /* manytask.c */
extern const struct generator generator_homogeneous, generator_fourfold,
    generator_heterogeneous; /* platforms.c */
extern const struct generator generator_airsn, generator_inspiral, generator_sdss,
    generator_diamond, generator_laplace; /* science.c */
