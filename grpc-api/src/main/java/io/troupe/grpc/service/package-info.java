/**
 * etcd's services: they check requests, send them to actors, and build responses, without any
 * transport. Entry class: {@link io.troupe.grpc.service.KvService}. Imports core.model, protocol
 * and the generated API classes. See docs/components/gateway.md.
 */
@NullMarked
package io.troupe.grpc.service;

import org.jspecify.annotations.NullMarked;
