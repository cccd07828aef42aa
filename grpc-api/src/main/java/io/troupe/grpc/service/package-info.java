/**
 * etcd's services: checks, asks, answers. Knows no transport. Entry class: {@link
 * io.troupe.grpc.service.KvService}. Imports core.model, protocol and the generated API classes.
 * See docs/components/gateway.md.
 */
@NullMarked
package io.troupe.grpc.service;

import org.jspecify.annotations.NullMarked;
