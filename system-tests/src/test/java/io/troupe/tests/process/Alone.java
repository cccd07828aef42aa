package io.troupe.tests.process;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;

/**
 * A test of whole processes that needs the machine alone: several members under load, or time
 * limits. Other tests run two at a time, because they mostly wait; {@link Clusters} marks those
 * with several members.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("alone")
public @interface Alone {}
