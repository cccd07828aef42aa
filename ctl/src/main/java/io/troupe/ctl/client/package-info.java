/**
 * Calls of an etcd endpoint over gRPC. Entry class: {@link io.troupe.ctl.client.EtcdClient}. May
 * import {@code text}, grpc-java and the messages. See docs/ctl.md.
 */
@NullMarked
package io.troupe.ctl.client;

import org.jspecify.annotations.NullMarked;
