<html><body><% for (int i = 0; i < 50; i++) { %>
<p><%= String.format("%d %s", i, Integer.toHexString(i * 31)) %></p>
<% } %></body></html>
