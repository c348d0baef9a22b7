"""What agent programs that write lines of JSON have in common in what they tell: lines, calls, tokens, complaints."""
