package io.troupe.node.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.node.tls.TestAuthority.KeyForm;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The addresses from which a certificate is accepted (TL2). */
class AlternativeNamesTest {
  private static final String HERE = "10.0.0.1";

  private final FakeLookup lookup = new FakeLookup();

  private static AlternativeNames names(List<String> addresses, String... dnsNames) {
    return new AlternativeNames(addresses, List.of(dnsNames));
  }

  private void passes(AlternativeNames names, String from) {
    assertThatCode(() -> names.check(FakeLookup.address(from), lookup)).doesNotThrowAnyException();
  }

  private void refused(AlternativeNames names, String from, String text) {
    assertThatThrownBy(() -> names.check(FakeLookup.address(from), lookup))
        .isInstanceOf(CertificateException.class)
        .hasMessage(text);
  }

  @Test
  void certificateWithoutNamesIsValidFromAnyAddress_TL2() {
    passes(names(List.of()), HERE);
    assertThat(lookup.asked).isEmpty();
  }

  @Test
  void addressIsMatchedWithoutResolver_TL2() {
    passes(names(List.of("10.9.9.9", HERE), "elsewhere.test"), HERE);
    passes(names(List.of("0:0:0:0:0:0:0:1")), "::1");
    refused(
        names(List.of("10.9.9.9", "10.9.9.8")),
        HERE,
        "x509: certificate is valid for 10.9.9.9, 10.9.9.8, not 10.0.0.1");
    assertThat(lookup.asked).isEmpty();
  }

  @Test
  void nameOfAddressIsLookedUpFirst_TL2() {
    lookup.reverse(HERE, "Other.Test", "m1.Cluster.test.");
    passes(names(List.of("10.9.9.9"), "first.test", "m1.cluster.test"), HERE);
    assertThat(lookup.asked).containsExactly(HERE);
  }

  @Test
  void addressesOfEachNameAreLookedUpNext_TL2() {
    lookup.forward("m2.test", "10.0.0.7", HERE).forward("m1.test", "10.0.0.7");
    passes(names(List.of(), "m0.test", "m1.test", "m2.test", "m3.test"), HERE);
    assertThat(lookup.asked).containsExactly(HERE, "m0.test", "m1.test", "m2.test");
  }

  @Test
  void wildcardMatchesEndOfNameAndHasNoAddresses_TL2() {
    lookup.reverse(HERE, "m1.eu.cluster.test").forward("*.other.test", HERE);
    passes(names(List.of(), "*.cluster.test"), HERE);
    passes(names(List.of(), "*.Eu.Cluster.Test"), HERE);
    for (String other : List.of("*.other.test", "*.m1.eu.cluster.test", "*.uster.test")) {
      refused(
          names(List.of(), other),
          HERE,
          "tls: \"10.0.0.1\" does not match any of DNSNames [\"" + other + "\"]");
    }
    assertThat(lookup.asked).containsOnly(HERE);
  }

  @Test
  void lastFailedLookupIsReported() {
    refused(
        names(List.of("10.9.9.9"), "*.x.test", "m1.test", "m2.test"),
        HERE,
        "tls: \"10.0.0.1\" does not match any of DNSNames [\"*.x.test\" \"m1.test\" \"m2.test\"]"
            + " (lookup m2.test: unknown host)");
    refused(
        names(List.of(), "*.x.test"),
        HERE,
        "tls: \"10.0.0.1\" does not match any of DNSNames [\"*.x.test\"]"
            + " (lookup 10.0.0.1: unknown host)");
  }

  @Test
  void namesAreReadFromCertificate(@TempDir Path directory) throws Exception {
    TestAuthority authority = new TestAuthority(directory, "authority");
    X509Certificate both =
        authority.issue("both", "b", KeyForm.EC_PKCS8, HERE, "*.x.test", "m.test").certificate();
    assertThat(AlternativeNames.of(both)).isEqualTo(names(List.of(HERE), "*.x.test", "m.test"));
    X509Certificate none = authority.issue("none", "n", KeyForm.EC_PKCS8).certificate();
    assertThat(AlternativeNames.of(none)).isEqualTo(names(List.of()));
    X509Certificate malformed = authority.malformedNames("malformed").certificate();
    assertThatThrownBy(() -> AlternativeNames.of(malformed))
        .as("not taken for a certificate without names")
        .isInstanceOf(CertificateException.class);
  }

  /** Needs only a hosts file with localhost. */
  @Test
  void systemResolverIsUsed() {
    NameLookup system = new SystemLookup();
    assertThatCode(
            () -> names(List.of(), "localhost").check(FakeLookup.address("127.0.0.1"), system))
        .doesNotThrowAnyException();
    assertThatThrownBy(
            () ->
                names(List.of(), "no-such-host.invalid")
                    .check(FakeLookup.address("127.0.0.1"), system))
        .hasMessageStartingWith(
            "tls: \"127.0.0.1\" does not match any of DNSNames [\"no-such-host.invalid\"]"
                + " (lookup no-such-host.invalid");
  }
}
