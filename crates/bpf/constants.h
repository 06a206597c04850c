/* Written by crates/engine/src/tcp/congestion/linux.rs from the engine's constants. */
#define COMPOUND_ALPHA 0.125
#define COMPOUND_BETA 0.5
#define COMPOUND_K 0.75
#define COMPOUND_GAMMA_PACKETS 30.0
#define COMPOUND_ZETA 0.5
#define ILLINOIS_ALPHA_MIN 0.3
#define ILLINOIS_ALPHA_MAX 10.0
#define ILLINOIS_BETA_MIN 0.125
#define ILLINOIS_BETA_MAX 0.5
#define ILLINOIS_ETA_1 0.01
#define ILLINOIS_ETA_2 0.1
#define ILLINOIS_ETA_3 0.8
#define ILLINOIS_W_THRESH 10.0
#define ILLINOIS_THETA 5
