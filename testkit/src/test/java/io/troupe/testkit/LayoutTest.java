package io.troupe.testkit;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rules of docs/architecture.md about this module. */
class LayoutTest {
  private static final String TESTKIT = "io.troupe.testkit..";

  /** What runs a member in another program's process. */
  private static final Set<String> ENTRY_CLASSES =
      Set.of(
          "io.troupe.node.RunningNode",
          "io.troupe.node.config.ConfigLoader",
          "io.troupe.node.process.StartException",
          "io.troupe.node.process.ExitCode",
          "io.troupe.actors.member.MemberRemovedException");

  private static final JavaClasses TROUPE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.troupe");

  @Test
  void testkitUsesOnlyEntryClassesOfNode() {
    noClasses()
        .that()
        .resideInAPackage(TESTKIT)
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.troupe..")
                .and(not(resideInAPackage(TESTKIT)))
                .and(
                    not(
                        DescribedPredicate.<JavaClass>describe(
                            "entry classes", type -> ENTRY_CLASSES.contains(type.getName())))))
        .check(TROUPE);
  }

  @Test
  void libraryTypesAreNoPartOfTheTestkit() {
    noClasses()
        .that()
        .resideInAPackage(TESTKIT)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.pekko..", "net.openhft..", "org.rocksdb..", "ch.qos..")
        .check(TROUPE);
  }

  @Test
  void onlyTheExtensionUsesJunit() {
    noClasses()
        .that()
        .resideInAPackage(TESTKIT)
        .and()
        .doNotHaveSimpleName("TroupeExtension")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.junit..")
        .check(TROUPE);
  }

  @Test
  void noOtherModuleDependsOnTestkit() {
    noClasses()
        .that()
        .resideOutsideOfPackage(TESTKIT)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(TESTKIT)
        .check(TROUPE);
  }

  /** A second binding or configuration of the log would take over the test's log. */
  @Test
  void logbackIsNotOnTheClassPath() {
    assertThatThrownBy(() -> Class.forName("ch.qos.logback.classic.Logger"))
        .isInstanceOf(ClassNotFoundException.class);
    assertThatThrownBy(() -> Class.forName("net.logstash.logback.encoder.LogstashEncoder"))
        .isInstanceOf(ClassNotFoundException.class);
  }
}
