/**
 * etcd's services: they check requests, send them to actors, and build responses, without any
 * transport. Entry class: {@link io.troupe.server.KvService}. Imports core.model, protocol and the
 * generated API classes. See docs/components/gateway.md.
 */
@NullMarked
package io.troupe.server;

import org.jspecify.annotations.NullMarked;
