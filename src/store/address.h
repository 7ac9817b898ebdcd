/* Where a store is:
 *
 *     redis://[user[:password]@]host[:port][,host:port...][/prefix][?option=value&...]
 *
 * rediss:// is the same with TLS. Options: ca, cert, key (files), name (in the certificate),
 * unchecked=1, replicas, shards, insecure=1, may-lose=1, and auth=key: the password comes from the cluster's key, and with
 * TLS also the certificate to believe unless ca, name or unchecked say otherwise. Parts are
 * percent-decoded.
 *
 * Without TLS everybody on the way can read and change what is said. So redis:// is for this machine
 * alone, and a password from the cluster's key for TLS alone, unless insecure=1 says that the network
 * can be trusted. */
#pragma once
#include "base/error.h"
#include "store/redis/redis.h"
#include <stdbool.h>
#include <stdint.h>

struct store_address {
    char *text; /* as given, without the password, for people and for other programs */
    char *servers, *prefix, *user, *password;
    bool auth_key; /* whoever has the cluster's key sets `password` and `tls_pin` (heap) before it
                      is used: cluster/launch/store_server.h */
    bool tls, tls_unchecked, insecure;
    bool may_lose; /* its user knows that the server may lose what it has answered */
    char *tls_ca, *tls_cert, *tls_key, *tls_name;
    char *tls_pin; /* not part of the text: the certificate itself */
    uint32_t replicas, shards;
};

/* Errors never repeat the text: it may hold a password. */
bool store_address_parse(const char *text, struct store_address *out, struct error *err);
void store_address_free(struct store_address *a);
/* The settings of the store of one run there, whose ends `prover` proves (charter_prover()); `prefix` is
 * a buffer that lives as long as these. */
struct store_redis_config store_address_config(const struct store_address *a, uint64_t run,
                                               const struct seal_prover *prover,
                                               char prefix[static 128]);
