package io.troupe.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class LogPlotTest {
  private static final List<String> NAMES =
      List.of("put", "page <500> & count", "count", "restart", "range");

  private static List<ScalePoint> points(double factor) {
    List<ScalePoint> points = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      for (int size : new int[] {100_000, 1_000_000, 10_000_000}) {
        points.add(
            new ScalePoint(NAMES.get(i), ScalePoint.MS, size, (i + 1) * factor * size / 1e6, 9));
      }
    }
    points.add(new ScalePoint("bytes on disk", ScalePoint.MIB, 100_000, 40, Double.NaN));
    points.add(new ScalePoint("fill", ScalePoint.PER_SECOND, 100_000, 40_000, Double.NaN));
    return points;
  }

  private static Map<String, List<ScalePoint>> servers() {
    Map<String, List<ScalePoint>> servers = new LinkedHashMap<>();
    servers.put("etcd", points(1));
    servers.put("troupe", points(0.01));
    return servers;
  }

  private static Document draw(Map<String, List<ScalePoint>> servers) throws Exception {
    String svg = LogPlot.svg("Cost & size", "keys", ScaleTable.panels(servers));
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<Element> elements(Document svg, String name) {
    NodeList nodes = svg.getElementsByTagName(name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      elements.add((Element) nodes.item(i));
    }
    return elements;
  }

  private static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }

  @Test
  void everyMeasurementOfEveryServerHasLineAndLabel() throws Exception {
    Document svg = draw(servers());
    assertThat(elements(svg, "polyline")).hasSize(2 * (NAMES.size() + 1));
    List<String> texts = elements(svg, "text").stream().map(Element::getTextContent).toList();
    assertThat(texts)
        .contains("Cost & size", "etcd", "troupe", "100k", "10m", "0.1", "ms", "MiB")
        .contains("page <500> & count  20.0 ms", "page <500> & count  0.20 ms");
    assertThat(texts).noneMatch(text -> text.startsWith("fill"));
  }

  @Test
  void sameMeasurementHasSameColorEverywhere() throws Exception {
    List<Element> lines = elements(draw(servers()), "polyline");
    for (int i = 0; i < NAMES.size(); i++) {
      assertThat(lines.get(i).getAttribute("stroke"))
          .isEqualTo(lines.get(NAMES.size() + i).getAttribute("stroke"));
    }
    assertThat(lines.subList(0, NAMES.size()).stream().map(l -> l.getAttribute("stroke")))
        .doesNotHaveDuplicates();
  }

  @Test
  void labelsOfOnePanelDoNotOverlapAndStayInsideThePicture() throws Exception {
    Map<String, List<ScalePoint>> close = new LinkedHashMap<>();
    List<ScalePoint> points = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      points.add(new ScalePoint("number " + i, ScalePoint.MS, 1000, 1 + i * 1e-6, Double.NaN));
    }
    close.put("troupe", points);
    Document svg = draw(close);
    double height = number(svg.getDocumentElement(), "height");
    double[] places =
        elements(svg, "text").stream()
            .filter(text -> text.getTextContent().startsWith("number "))
            .mapToDouble(text -> number(text, "y"))
            .sorted()
            .toArray();
    assertThat(places).hasSize(12);
    for (int i = 1; i < places.length; i++) {
      assertThat(places[i] - places[i - 1]).isGreaterThanOrEqualTo(15);
    }
    assertThat(places[0]).isPositive();
    assertThat(places[11]).isLessThan(height);
  }

  @Test
  void higherCostAndLargerSizeAreUpAndRight() throws Exception {
    String[] slow =
        elements(draw(servers()), "polyline").get(0).getAttribute("points").split(" ", -1);
    String[] first = slow[0].split(",", -1);
    String[] last = slow[2].split(",", -1);
    assertThat(Double.parseDouble(last[0])).isGreaterThan(Double.parseDouble(first[0]));
    assertThat(Double.parseDouble(last[1])).isLessThan(Double.parseDouble(first[1]));
  }

  @Test
  void ticksArePowersOfTen() {
    assertThat(List.of(-2, -1, 0, 2, 3, 5, 6, 7).stream().map(LogPlot::tick))
        .containsExactly("0.01", "0.1", "1", "100", "1k", "100k", "1m", "10m");
  }

  @Test
  void tableHasServersBelowEachOther() {
    String[] lines = ScaleTable.markdown(servers()).replaceAll(" +", " ").split("\n", -1);
    assertThat(lines[0]).isEqualTo("| measurement | server | 100,000 | 1,000,000 | 10,000,000 |");
    assertThat(lines[2])
        .isEqualTo("| put | etcd | 0.10 / 9.00 ms | 1.00 / 9.00 ms | 10.0 / 9.00 ms |");
    assertThat(lines[3]).startsWith("| put | troupe | 0.00 / 9.00 ms |");
    assertThat(ScaleTable.markdown(servers()).replaceAll(" +", " "))
        .contains("| bytes on disk | etcd | 40 MiB | - | - |")
        .contains("| fill | troupe | 40,000 per second | - | - |");
  }
}
