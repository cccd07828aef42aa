package io.troupe.node.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.Configurator.ExecutionStatus;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

class ProcessLoggingTest {
  /** Another program with a member inside may have Logback, but not the library for JSON lines. */
  private static final class WithoutJsonLibrary extends ClassLoader {
    private WithoutJsonLibrary() {
      super(ProcessLoggingTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("net.logstash.")) {
        throw new ClassNotFoundException(name);
      }
      if (!name.startsWith("io.troupe.node.")) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        if (in == null) {
          throw new ClassNotFoundException(name);
        }
        byte[] code = in.readAllBytes();
        return defineClass(name, code, 0, code.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @Test
  void leavesLogOfAnotherProgramAloneWithoutTheJsonLibrary() throws Exception {
    Configurator configurator =
        Class.forName(ProcessLogging.class.getName(), true, new WithoutJsonLibrary())
            .asSubclass(Configurator.class)
            .getConstructor()
            .newInstance();
    LoggerContext context = new LoggerContext();
    assertThat(configurator.configure(context)).isEqualTo(ExecutionStatus.INVOKE_NEXT_IF_ANY);
    assertThat(context.getLogger("ROOT").iteratorForAppenders().hasNext()).isFalse();
  }
}
