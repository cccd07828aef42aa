package io.troupe.bench.client;

import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import javax.net.ssl.SSLException;

/**
 * TLS of the generator, which sends no secrets: the servers that it starts create self-signed
 * certificates.
 */
final class TrustingTls {
  private TrustingTls() {}

  /** Trusts any server; uses the JDK's versions and suites. */
  static SslContext context() {
    try {
      return GrpcSslContexts.configure(
              SslContextBuilder.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE),
              SslProvider.JDK)
          .build();
    } catch (SSLException e) {
      throw new IllegalStateException("cannot create a TLS context for clients", e);
    }
  }
}
