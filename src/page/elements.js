/* Elements: nothing of the data ever becomes markup. */

const byId = (id) => document.getElementById(id);

/* make("td", {className: "x", role: "cell"}, "text", child, ...) */
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (name in element) {
      element[name] = value;
    } else {
      element.setAttribute(name, value);
    }
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/* A value as it is shown: without one that cannot be seen. */
function showValue(value) {
  return value.trim() === ""
    ? make("em", {}, value === "" ? "empty" : "blank")
    : make("bdi", {}, value);
}
