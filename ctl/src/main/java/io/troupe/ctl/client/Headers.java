package io.troupe.ctl.client;

import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;

/** Adds headers to the calls of a channel. */
final class Headers {
  private Headers() {}

  static Channel add(Channel channel, Metadata headers) {
    return headers.keys().isEmpty()
        ? channel
        : ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
  }
}
