package io.troupe.ctl.client;

import io.grpc.Attributes;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/** Gives a channel a fixed list of endpoints. */
final class Endpoints extends NameResolverProvider {
  private final List<Endpoint> endpoints;
  private final String scheme;

  Endpoints(List<Endpoint> endpoints, String scheme) {
    this.endpoints = endpoints;
    this.scheme = scheme;
  }

  @Override
  protected boolean isAvailable() {
    return true;
  }

  @Override
  protected int priority() {
    return 5;
  }

  @Override
  public String getDefaultScheme() {
    return scheme;
  }

  @Override
  public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
    return Set.of(InetSocketAddress.class);
  }

  @Override
  public NameResolver newNameResolver(URI target, NameResolver.Args args) {
    return new NameResolver() {
      @Override
      public String getServiceAuthority() {
        return endpoints.get(0).authority();
      }

      @Override
      public void start(Listener2 listener) {
        List<EquivalentAddressGroup> groups = endpoints.stream().map(Endpoints::group).toList();
        listener.onResult(
            ResolutionResult.newBuilder()
                .setAddressesOrError(io.grpc.StatusOr.fromValue(groups))
                .build());
      }

      @Override
      public void shutdown() {}
    };
  }

  private static EquivalentAddressGroup group(Endpoint endpoint) {
    return new EquivalentAddressGroup(
        new InetSocketAddress(endpoint.host(), endpoint.port()),
        Attributes.newBuilder()
            .set(EquivalentAddressGroup.ATTR_AUTHORITY_OVERRIDE, endpoint.authority())
            .build());
  }
}
