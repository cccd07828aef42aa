package io.troupe.ctl.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.util.Base64;
import org.junit.jupiter.api.Test;

class PemKeyTest {
  /** Keys for this test alone. */
  private static final String EC =
      """
      -----BEGIN EC PRIVATE KEY-----
      MHcCAQEEIIqewVktFYcxAwNVD06rlCW/Dhgk+39ej/2uaK5FPd3doAoGCCqGSM49
      AwEHoUQDQgAEhAExHyK9b4AktJQ5pOtgD4AQS65nGDF6RI+8EfshaVIn8yMCrT0g
      LWwfqz6FZpja7avlnY8ICQFt7cm8vxo3rQ==
      -----END EC PRIVATE KEY-----
      """;

  private static final String RSA =
      """
      -----BEGIN RSA PRIVATE KEY-----
      MIICXAIBAAKBgQC5oq6knvIWNVGhtPd+7MT3jeoCK3gSX0BZ/qOj+Vmmz76oa5Ds
      UxC5bv5Y5FNQOVyxInKNpPWR44ivnnGwFipkpFRD3byB0hSk5RMpLdQJ3T7tmLRH
      tDwxBf+EJxmRnEatQJXhVpwL0arIVr+yBG6vC5HFdj1TJh1Z04d+CAsFGwIDAQAB
      AoGAYHHd7FdMDS+8bpg3sbDPkJIhjukIo/rq0xbR7AJDisAKHTRtgeqSGNVKveI6
      SsbSmpD8FQ0sLJSbUiquhD6v3OC/P6rwAuTQ7D+kBoo8umfD4uKNHAvb5+tvO5mN
      kYvXwRXs9Ca6TtAuFnvuHPc8bhjlADIqRPrvBqkfbSG0o4ECQQDq/NKn/9Fctp8x
      fmuh0jdqQ6z2tAJV01UCeuZ6bJvJVjgv9MAbGf8CEGACvJSGki4ptrtfA3F6Se4L
      +PjSciDbAkEAyjwfxloN6mkLRL13mYA9+eKUQjblffzspljAlbpITLckyqGUkd7V
      LWXsQamP7eSF9HDYq30qB0giijofVtTAwQJBAIYL7PtK0hpqTsuEC1AHQ/dJXbxp
      mT9uS3sbsqg5lnC2z1yD6KZNIQwDXVGSU8OkVdMT2zTrGOuiirmnsAEUe6sCQGhN
      tDGwNqckwFwWwD2aR9y+wKqZ96kQLtnowoM2zZ1LhB1CUwcc/6Pngn+nPYV7rJ8T
      KJzh9DBHQxE5wvocxsECQFPVebtqXkEALzjrw9xtvW0Q61mBkaUJgi15bOwRnLph
      Zi1HqRG55Lizrkpyof0yYyfwUNjS1rpPu/II3l53V5k=
      -----END RSA PRIVATE KEY-----
      """;

  private static PrivateKey parse(String pem) {
    return PemKey.parse("file", pem.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void readsPkcs8() throws Exception {
    PrivateKey key = KeyPairGenerator.getInstance("EC").generateKeyPair().getPrivate();
    String pem =
        "-----BEGIN PRIVATE KEY-----\n"
            + Base64.getMimeEncoder().encodeToString(key.getEncoded())
            + "\n-----END PRIVATE KEY-----\n";
    assertThat(parse("text before\n" + pem)).isEqualTo(key);
  }

  @Test
  void readsKeysInTheOlderForms() {
    assertThat(parse(EC).getAlgorithm()).isEqualTo("EC");
    assertThat(parse(RSA).getAlgorithm()).isEqualTo("RSA");
  }

  @Test
  void namesTheFileWithoutKey() {
    assertThatThrownBy(() -> parse("nothing"))
        .hasMessage("file: no unencrypted PEM private key in the file");
  }
}
