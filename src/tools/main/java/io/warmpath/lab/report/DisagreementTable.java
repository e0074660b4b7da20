package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.warmpath.plot.Svg;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Map;

/**
 * Disagreements of policies as a part of the page: a table per pair, whose rows open to show each
 * engine's numbers. Those are data in the page, made into tables where somebody clicks. Stateless.
 */
final class DisagreementTable {
    private static final JsonMapper JSON = new JsonMapper();
    private static final MathContext DIGITS = new MathContext(4);

    static final String STYLE =
            """
            table{border-collapse:collapse;font-size:12px;margin:4px 0 8px}
            td,th{padding:2px 8px;text-align:right;border-bottom:1px solid #eee;font-weight:400}
            th:first-child,td:first-child{text-align:left} th{color:#666}
            tr[data-d]{cursor:pointer} tr[data-d]:hover,tr[data-d].open{background:#eef4fb}
            tr.why>td{text-align:left;padding:4px 8px 12px 24px;white-space:normal}
            tr.why>td>div{display:inline-block;vertical-align:top;margin-right:32px}
            tr.same{color:#999} .chosen{background:#dcefdc;font-weight:600} summary{cursor:pointer;margin:4px 0}
            """;

    static final String SCRIPT =
            """
            const decisions = JSON.parse(document.getElementById('decisions').textContent);
            function cell(row, kind, text) {
              const c = row.appendChild(document.createElement(kind));
              c.textContent = text;
              return c;
            }
            function side(name, s) {
              const box = document.createElement('div');
              box.textContent = name + ': engine ' + s.engine + ', first token after ' + s.ttft +
                ' ms, ' + s.cached + ' tokens were cached there' + (s.reason ? '; ' + s.reason : '');
              const names = Object.keys(s.terms);
              if (!names.length) {
                box.append('; this rule looks at no numbers');
                return box;
              }
              const table = box.appendChild(document.createElement('table'));
              const head = table.insertRow();
              cell(head, 'th', 'engine');
              s.terms[names[0]].forEach((v, e) => {
                if (e === s.engine) cell(head, 'th', e).className = 'chosen';
                else cell(head, 'th', e);
              });
              for (const n of names) {
                const row = table.insertRow();
                if (s.terms[n].every(v => v === s.terms[n][0])) row.className = 'same';
                cell(row, 'td', n);
                s.terms[n].forEach((v, e) => {
                  const c = cell(row, 'td', v === null ? '' : v);
                  if (e === s.engine) c.className = 'chosen';
                });
              }
              return box;
            }
            function toggle(row) {
              if (row.classList.toggle('open')) {
                const pair = decisions[row.dataset.p];
                const d = pair.examples[row.dataset.d];
                const why = row.parentNode.insertRow(row.rowIndex + 1);
                why.className = 'why';
                const at = why.insertCell();
                at.colSpan = 99;
                at.append(side(pair.one, d.one), side(pair.other, d.other));
              } else {
                row.nextElementSibling.remove();
              }
            }
            document.addEventListener('click', e => {
              const row = e.target.closest('tr[data-d]');
              if (row) toggle(row);
            });
            document.addEventListener('keydown', e => {
              if (e.key === 'Enter' && e.target.matches('tr[data-d]')) toggle(e.target);
            });
            """;

    private DisagreementTable() {}

    /** {@code first}: place of the first of these in the page's data. */
    static String tables(List<Disagreement> of, int first) {
        StringBuilder out = new StringBuilder();
        for (int p = 0; p < of.size(); p++) {
            Disagreement d = of.get(p);
            out.append(
                    plain(
                            "<details><summary>%s and %s at load %s: %d of %d requests went to"
                                    + " engines of another number</summary>%n<table><tr><th>request"
                                    + "</th><th>at s</th><th>prompt</th><th>%s: engine</th>"
                                    + "<th>cached</th><th>ttft ms</th><th>%s: engine</th>"
                                    + "<th>cached</th><th>ttft ms</th><th>difference</th></tr>%n",
                            Svg.text(d.one()),
                            Svg.text(d.other()),
                            number(d.load()),
                            d.elsewhere(),
                            d.requests(),
                            Svg.text(d.one()),
                            Svg.text(d.other())));
            for (int x = 0; x < d.examples().size(); x++) {
                Disagreement.Example e = d.examples().get(x);
                out.append(
                        plain(
                                "<tr data-p=\"%d\" data-d=\"%d\" tabindex=\"0\"><td>%d</td>"
                                        + "<td>%.1f</td><td>%d</td>%s%s<td>%+.0f</td></tr>%n",
                                first + p,
                                x,
                                e.number(),
                                e.seconds(),
                                e.prompt(),
                                side(e.one()),
                                side(e.other()),
                                e.other().ttftMillis() - e.one().ttftMillis()));
            }
            out.append("</table></details>\n");
        }
        return out.toString();
    }

    private static String side(Disagreement.Side s) {
        return plain("<td>%d</td><td>%d</td><td>%.0f</td>", s.engine(), s.cached(), s.ttftMillis());
    }

    /** For the script; safe inside its element. */
    static String data(List<Disagreement> all) {
        ArrayNode pairs = JSON.createArrayNode();
        for (Disagreement d : all) {
            ObjectNode pair = pairs.addObject().put("one", d.one()).put("other", d.other());
            ArrayNode examples = pair.putArray("examples");
            for (Disagreement.Example e : d.examples()) {
                ObjectNode example = examples.addObject();
                side(e.one(), example.putObject("one"));
                side(e.other(), example.putObject("other"));
            }
        }
        try {
            return JSON.writeValueAsString(pairs).replace("<", "\\u003c");
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e); // a tree of plain values
        }
    }

    private static void side(Disagreement.Side s, ObjectNode to) {
        to.put("engine", s.engine()).put("cached", s.cached()).put("reason", s.reason());
        to.put("ttft", number(s.ttftMillis()));
        ObjectNode terms = to.putObject("terms");
        for (Map.Entry<String, double[]> term : s.terms().entrySet()) {
            ArrayNode values = terms.putArray(term.getKey());
            for (double v : term.getValue()) {
                if (Double.isFinite(v)) {
                    values.add(number(v));
                } else {
                    values.addNull();
                }
            }
        }
    }

    private static String number(double value) {
        return new BigDecimal(value).round(DIGITS).stripTrailingZeros().toPlainString();
    }
}
