package io.troupe.node.tls;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.security.cert.CertificateException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random certificates, addresses and resolvers against the rule as one formula (TL2). */
class AlternativeNamesProperties {
  private static final List<String> ADDRESSES = List.of("10.0.0.1", "10.0.0.2", "fd00::1");
  private static final List<String> HOSTS = List.of("a.test", "b.test", "a.x.test", "b.y.x.test");
  private static final List<String> NAMES =
      List.of("a.test", "b.test", "a.x.test", "*.test", "*.x.test", "*.y.x.test", "*.a.test");

  private static List<String> some(SplittableRandom random, List<String> of, int most) {
    List<String> chosen = new ArrayList<>();
    for (int left = random.nextInt(most + 1); left > 0; left--) {
      chosen.add(of.get(random.nextInt(of.size())));
    }
    return chosen;
  }

  @Property(tries = 5000)
  void certificatePassesIfAddressOrNameMatchesWithoutNeedlessLookup(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    FakeLookup lookup = new FakeLookup();
    Map<String, List<String>> reverse = new HashMap<>();
    Map<String, List<String>> forward = new HashMap<>();
    for (String address : some(random, ADDRESSES, 3)) {
      List<String> known = some(random, HOSTS, 2);
      reverse.put(address, known);
      lookup.reverse(address, known.toArray(String[]::new));
    }
    for (String host : some(random, HOSTS, 4)) {
      List<String> known = some(random, ADDRESSES, 2);
      forward.put(host, known);
      lookup.forward(host, known.toArray(String[]::new));
    }
    AlternativeNames names =
        new AlternativeNames(some(random, ADDRESSES, 2), some(random, NAMES, 3));
    String from = ADDRESSES.get(random.nextInt(ADDRESSES.size()));
    List<String> called = reverse.getOrDefault(from, List.of());

    boolean withoutNames = names.addresses().isEmpty() && names.dnsNames().isEmpty();
    boolean byAddress = names.addresses().contains(from);
    boolean byName =
        names.dnsNames().stream()
            .anyMatch(
                name ->
                    name.startsWith("*.")
                        ? called.stream().anyMatch(host -> host.endsWith(name.substring(1)))
                        : called.contains(name)
                            || forward.getOrDefault(name, List.of()).contains(from));

    assertThat(passes(names, FakeLookup.address(from), lookup))
        .as("%s from %s, reverse=%s forward=%s", names, from, reverse, forward)
        .isEqualTo(withoutNames || byAddress || byName);
    if (withoutNames || byAddress || names.dnsNames().isEmpty()) {
      assertThat(lookup.asked).isEmpty();
    } else {
      assertThat(lookup.asked).doesNotContain("*.test", "*.x.test", "*.y.x.test", "*.a.test");
      assertThat(lookup.asked.get(0)).isEqualTo(FakeLookup.address(from).getHostAddress());
    }
  }

  private static boolean passes(AlternativeNames names, InetAddress from, NameLookup lookup) {
    try {
      names.check(from, lookup);
      return true;
    } catch (CertificateException refused) {
      assertThat(refused)
          .hasMessageContaining(from.getHostAddress())
          .hasMessageContaining(
              names.dnsNames().isEmpty() ? "x509: certificate is valid for " : "does not match");
      return false;
    }
  }
}
